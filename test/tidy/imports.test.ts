/** Rules for imports: the libraries of each module, and the layers of the gateway. */

import t from 'tap'
import {
  checkRules,
  importedFiles,
  isSource,
  isTest,
  linesWith,
  type ProjectFile,
  type Rule,
} from './rules.js'

/** Modules that may import each library; tests may import all. */
const MODULE_OF_LIBRARY: Readonly<Record<string, RegExp>> = {
  '@simplewebauthn/server': /^gateway\/auth\/security-keys\.ts$/,
  'uWebSockets.js': /^gateway\/http\//,
  'better-sqlite3': /^sql\//,
  mysql2: /^sql\//,
  // The peer of a benchmark is a separate program.
  knex: /^sql\/|^scripts\/benchmarks\/fastify-server/,
  execa: /^cgi\/process\/spawn-group\.ts$/,
  // Addresses that users enter are called by one client, which checks where they lead.
  'node:http': /^gateway\/(?:http\/forward|outbound\/client)\.ts$|^scripts\/benchmarks\//,
  'node:https': /^gateway\/(?:http\/forward|outbound\/client)\.ts$/,
  'node:dns': /^gateway\/outbound\/address\.ts$/,
  'node:child_process': /^cgi\/process\/(?:spawn-group|launcher|launcher-process)\.ts$/,
  child_process: /^(?!)/,
  'lru-cache':
    /^(?:registry\/(?:documents|blob-bodies)|cgi\/(?:objects\/(?:history|commit-changes|commit-source|kept-objects|last-commits|tree-listing)|refs\/known-references|process\/refusals)|gateway\/(?:auth\/lfs-ticket|http\/client-address|packs\/(?:known-requests|advertisement|extended-answers|push-advertisement|reachable-wants|recent-histories|repeated-checkouts|repeated-fetches|shallow-updates|shared-answers|shared-bases|small-answers|tip-files)|pool\/(?:openpgp|renderings)|runs\/task-masks|web\/code\/shown-diff))\.ts$/,
  ...Object.fromEntries(
    [
      '@jimp/core',
      '@jimp/js-gif',
      '@jimp/js-jpeg',
      '@jimp/js-png',
      '@jimp/plugin-cover',
      'image-size',
    ].map((library) => [library, /^gateway\/rendering\/picture\.ts$/]),
  ),
  pngjs: /^gateway\/rendering\/identicon\.ts$/,
  'modern-tar': /^registry\/archive\/tar\.ts$/,
  fzstd: /^registry\/archive\/unzstd\.ts$/,
  openpgp: /^registry\/sign\/openpgp(?:-keys)?\.ts$/,
  croner: /^gateway\/workflows\/cron\.ts$/,
  uqr: /^gateway\/web\/accounts\/qr-code\.tsx$/,
  yaml: /^gateway\/workflows\/yaml-value\.ts$/,
  '@actions/expressions': /^gateway\/workflows\/expression(?:s|-values|-work)\.ts$/,
  'xz-decompress': /^registry\/archive\/unxz\.ts$/,
  'seek-bzip': /^registry\/archive\/bunzip2\.ts$/,
  'http-proxy': /^gateway\/http\/forward\.ts$/,
  'node-forge': /^registry\/sign\/rsa\.ts$/,
  'prom-client': /^gateway\/request\/(?:metrics|request-times)\.ts$/,
  'smol-toml': /^conf\/load\.ts$/,
  s3mini: /^registry\/storage\/s3\.ts$/,
  pino: /^conf\/log\.ts$/,
  re2js: /^registry\/version-patterns\.ts$/,
  semver:
    /^(?:registry\/(?:go\/module-version|swift\/versions)|scripts\/commands\/node-version)\.ts$/,
  yauzl: /^registry\/archive\/zip\.ts$/,
}

/** Returns the files outside test/ that import the library or a part of it. */
function importersOf(library: string, files: readonly ProjectFile[]): readonly string[] {
  const name = library.replaceAll('.', '\\.')
  const pattern = new RegExp(`(?:from|import|require)\\s*\\(?\\s*['"]${name}(?:/[^'"]*)?['"]`)
  return files
    .filter((file) => isSource(file) && !isTest(file) && pattern.test(file.text))
    .map(({ path }) => path)
}

const libraries: Rule = {
  name: 'a library is imported by one module',
  advice: 'Use the module that imports the library (MODULE_OF_LIBRARY), or extend it.',
  find: (files) =>
    Object.entries(MODULE_OF_LIBRARY).flatMap(([library, module]) =>
      importersOf(library, files)
        .filter((path) => !module.test(path))
        .map((path) => `${path} imports ${library}`),
    ),
  breaks: [
    { path: 'gateway/request/router.ts', text: "import { App } from 'uWebSockets.js'\n" },
    { path: 'gateway/api/users.ts', text: "import type { Knex } from 'knex'\n" },
    { path: 'cgi/process/git.ts', text: "import { execa } from 'execa'\n" },
    { path: 'cgi/process/run.ts', text: "import { spawn } from 'node:child_process'\n" },
    { path: 'gateway/server.ts', text: "await import('http-proxy')\n" },
    { path: 'gateway/server.ts', text: "import {\n  pino,\n} from 'pino'\n" },
    { path: 'gateway/server.ts', text: "import 'prom-client'\n" },
    { path: 'scripts/gatehouse.ts', text: "import mysql from 'mysql2/promise'\n" },
  ],
}

const environment: Rule = {
  name: 'the environment is read in conf/load.ts only',
  advice: 'Make it a setting in conf/schemas.ts, or take it as a parameter.',
  find: (files) =>
    linesWith(
      files.filter((file) => isSource(file) && !isTest(file) && file.path !== 'conf/load.ts'),
      /\bprocess\.env\b|\bprocess\[|\benv\b.*from 'node:process'/,
    ),
  breaks: [
    { path: 'cgi/process/run.ts', text: 'const path = process.env.PATH\n' },
    { path: 'cgi/process/run.ts', text: "import { env } from 'node:process'\n" },
  ],
}

const callers: Rule = {
  name: 'outgoing requests are sent by one client',
  advice: 'Use gateway/outbound/client, which checks where an address leads.',
  find: (files) =>
    linesWith(
      files.filter(
        (file) =>
          /^(?:conf|sql|cgi|gateway|registry)\/.*\.ts$/.test(file.path) &&
          file.path !== 'registry/storage/in-time.ts' &&
          // A runner sends requests to the server that its operator has named.
          file.path !== 'gateway/own-runner/server-client.ts',
      ),
      /(?<![.#\w])fetch\(/,
    ),
  breaks: [
    { path: 'gateway/api/repositories/migrations.ts', text: 'const answer = await fetch(url)\n' },
  ],
}

/** The layers of gateway/, lowest first: the folders that each folder may import, and why. */
const GATEWAY_LAYERS: Readonly<Record<string, { imports: readonly string[]; why: string }>> = {
  http: {
    imports: [],
    why: 'The listener and the bodies of requests know no users and no routes.',
  },
  rendering: { imports: [], why: 'Markdown and highlighting are functions from text to HTML.' },
  workflows: {
    imports: [],
    why: 'What a workflow file says depends on the file alone: no tables, no git, no users.',
  },
  'known-files': {
    imports: ['workflows'],
    why: 'What a license or a template of issues says depends on its text alone.',
  },
  outbound: { imports: [], why: 'The client of other servers knows no request of this one.' },
  auth: { imports: ['http'], why: 'Authentication and authorization read a request and the rows.' },
  packs: { imports: ['http'], why: 'The pack cache serves git and ssh and knows neither.' },
  pool: { imports: ['rendering', 'workflows', 'known-files'], why: 'Threads run pure functions.' },
  request: {
    imports: ['http', 'auth', 'packs', 'pool'],
    why: 'The router and the context are what all handlers share, so they import no handler.',
  },
  'runner-protocol': { imports: [], why: 'Server and runner share messages, and nothing else.' },
  'own-runner': {
    imports: ['workflows', 'runner-protocol'],
    why: 'The runner is a client: it speaks the protocol of runners and knows no tables.',
  },
  actions: {
    imports: ['known-files', 'request', 'auth', 'packs', 'outbound'],
    why: 'Use cases publish events; surfaces, payloads and jobs are above them.',
  },
  objects: {
    imports: ['request', 'auth', 'outbound', 'actions'],
    why: 'JSON shapes of the API are rendered from rows, for the API and for webhooks.',
  },
  webhooks: {
    imports: ['request', 'auth', 'actions', 'objects'],
    why: 'Webhooks subscribe to events and render them with objects.',
  },
  check: {
    imports: ['request', 'auth', 'actions'],
    why: 'The checks compare rows with stored data, for the command line and for restored sites.',
  },
  doctor: {
    imports: ['http', 'outbound'],
    why: 'The checks of an installation read settings, the machine and the answers of the site.',
  },
  backup: {
    imports: ['check'],
    why: 'Backups copy rows and stored data of a running site, and know no users and no surfaces.',
  },
  runs: {
    imports: ['request', 'auth', 'packs', 'actions', 'webhooks', 'workflows', 'runner-protocol'],
    why: 'What happens to runs is the same for runners, the API and the pages.',
  },
  notifications: { imports: ['request'], why: 'Notifications subscribe to events.' },
  imports: {
    imports: ['request', 'outbound', 'actions', 'objects'],
    why: 'Imports of repositories are used by the API and call use cases.',
  },
  jobs: {
    imports: ['request', 'outbound', 'actions', 'check', 'imports', 'backup'],
    why: 'A job imports no surface: the server gives both what they share.',
  },
  api: {
    imports: [
      'rendering',
      'known-files',
      'http',
      'request',
      'auth',
      'outbound',
      'pool',
      'actions',
      'objects',
      'webhooks',
      'runs',
      'imports',
    ],
    why: 'A surface imports no other surface.',
  },
  web: {
    imports: ['http', 'request', 'auth', 'rendering', 'pool', 'actions', 'webhooks', 'runs'],
    why: 'A surface imports no other surface, and pages render rows, not JSON shapes.',
  },
  git: {
    imports: ['http', 'request', 'auth', 'packs', 'actions'],
    why: 'A surface imports no other one.',
  },
  ssh: {
    imports: ['http', 'request', 'auth', 'packs', 'actions'],
    why: 'A surface imports no other surface.',
  },
  oauth: { imports: ['http', 'request', 'auth'], why: 'A surface imports no other surface.' },
  packages: { imports: ['request', 'auth', 'actions'], why: 'A surface imports no other surface.' },
  artifacts: {
    imports: ['http', 'request', 'auth', 'runs', 'runner-protocol'],
    why: 'A surface imports no other surface.',
  },
  runners: {
    imports: ['http', 'request', 'auth', 'runs', 'runner-protocol'],
    why: 'A surface imports no other surface.',
  },
}

/** Returns the folder of gateway/ of a file; undefined for other files and for gateway/*.ts. */
function gatewayFolderOf(path: string): string | undefined {
  return /^gateway\/([\w-]+)\//.exec(path)?.[1]
}

const layers: Rule = {
  name: 'a folder of the gateway imports only the folders that are declared for it',
  advice: 'Move the shared part into a folder below both, or change GATEWAY_LAYERS and the design.',
  find: (files) =>
    files.filter(isSource).flatMap((file) => {
      const folder = gatewayFolderOf(file.path)
      if (folder === undefined) return []
      const layer = GATEWAY_LAYERS[folder]
      if (layer === undefined) return [`${file.path}: ${folder} has no layer`]
      return importedFiles(file)
        .filter((path) => path.startsWith('gateway/'))
        .filter((path) => {
          const imported = gatewayFolderOf(path)
          return imported !== folder && !layer.imports.includes(imported ?? '')
        })
        .map((path) => `${file.path} imports ${path}. ${layer.why}`)
    }),
  breaks: [
    { path: 'gateway/ssh/surface.ts', text: "import { answerFetch } from '../git/fetch.js'\n" },
    { path: 'gateway/api/accounts/users.ts', text: "import '../../web/kit/page.js'\n" },
    { path: 'gateway/jobs/upkeep.ts', text: "await import('../git/fetch.js')\n" },
    { path: 'gateway/actions/pulls/open-pull.ts', text: "import '../../objects/times.js'\n" },
    { path: 'gateway/request/context.ts', text: "import type { S } from '../server.js'\n" },
    { path: 'gateway/newcomer/x.ts', text: '' },
  ],
}

const order: Rule = {
  name: 'the layers of the gateway are listed from the lowest to the highest',
  advice: 'Put the folder after all folders that it may import.',
  find: () => {
    const folders = Object.keys(GATEWAY_LAYERS)
    return Object.entries(GATEWAY_LAYERS).flatMap(([folder, { imports }]) =>
      imports
        .filter((imported) => folders.indexOf(imported) >= folders.indexOf(folder))
        .map((imported) => `${folder} imports ${imported}`),
    )
  },
  breaks: [],
}

checkRules(t, [libraries, environment, callers, layers, order])
