/** Paths that climb and names that pretend: 404 to one, 422 to the other, and never a file. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { t } from 'tap'
import { startGatehouse } from '../helpers/gatehouse.js'
import { tryGit } from '../helpers/git-client.js'
import { converse } from '../helpers/raw-http.js'
import { temporaryFolder } from '../helpers/temporary.js'

/** As they go over the wire: no client could normalise them. */
const PATHS = [
  '/%2F%2F%2F%2F..%2F..%2F..%2Fetc%2Fpasswd',
  '/../../../etc/passwd',
  '/..%5c..%5cetc%5cpasswd',
  '/..\\..\\etc\\passwd',
  '/a/..;/b',
  '/%252e%252e/%252e%252e/etc/passwd',
  '/.%2e/.%2e/etc/passwd',
  '/ada/library.git/objects/../config',
  '/ada/library.git/objects/info/../../../p',
  '/ada/library.git/info/../config',
  '/ada/library.git/config',
  '/ada/library.git/HEAD',
  '/ada/library.git/objects/info/packs',
  '/ada/library.git/objects/info/alternates',
  '/ada/library.git/info/refs/../../config',
  '/ada/library.git/%2e%2e/library.git/config',
  '/ada%2Flibrary.git/info/refs?service=git-upload-pack',
  '/ada/library.git%00/info/refs?service=git-upload-pack',
  '/ada/library.git%2f..%2fother.git/info/refs?service=git-upload-pack',
  '/ada/../ada/library.git/info/refs?service=git-upload-pack',
  '/ada/./library.git/info/refs?service=git-upload-pack',
  '/ada//library.git/info/refs?service=git-upload-pack',
  '/ada/library.git/./info/refs?service=git-upload-pack',
  '/ada/library.git/info//refs?service=git-upload-pack',
  '/ada/library.git/info/refs/?service=git-upload-pack',
  '/ada/library.git./info/refs?service=git-upload-pack',
  '/ada/library.git.git/info/refs?service=git-upload-pack',
  '/ada/library.git%20/info/refs?service=git-upload-pack',
  '/ada/%6Cibrary%00.git/info/refs?service=git-upload-pack',
  '/a%ff/library.git/info/refs?service=git-upload-pack',
  '/%/library.git/info/refs?service=git-upload-pack',
  '/./library.git/info/refs?service=git-upload-pack',
  '/%2e%2e/library.git/info/refs?service=git-upload-pack',
  '/api/v1/repos/ada/library%00',
  '/api/v1/repos/ada/..%2Flibrary',
  '/api/v1/repos/%2e%2e/library',
  '/api/v1/repos/ada/library/../../../user',
  '/api/v1/../../ada/library.git/config',
  '/api/v1/repos/ada/librar%D1%83',
  // The Kelvin sign and the long s become k and s in lower case elsewhere.
  '/api/v1/users/%E2%84%AAim',
  '/api/v1/users/%C5%BFam',
  '/api/v1/users/kim.',
  '/api/v1/users/kim%20',
  '/api/v1/users/ki%C3%ADm',
]

t.test('no path leads out of a repository, or to another name', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  await gatehouse.addUser('kim')
  await gatehouse.addUser('sam')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)
  for (const path of PATHS) {
    for (const authorization of ['', `Authorization: token ${ada.token}\r\n`]) {
      const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n${authorization}Connection: close\r\n\r\n`
      const { text, statuses } = await converse(gatehouse.port, [request])
      const status = statuses[0] ?? 0
      const isRefused = [400, 404].includes(status) || (status === 401 && authorization === '')
      t.ok(isRefused, `${path}: ${status}`)
      t.notMatch(text, /\[core\]|root:|"full_name"|# service=|"login"/, path)
    }
  }
})

const NAMES = [
  ...['', '.', '..', '...', '/', 'a/b', '../x', '..\\x', 'x.git', 'x.GIT', 'x.wiki', '.git', '-x'],
  ...['--upload-pack=x', 'con', 'CON.txt', 'nul', 'x.lock', 'a\0', 'a\0.txt', 'a b', ' a', 'a '],
  ...[
    'a.',
    'a\n',
    'a\r\nX: y',
    '\u212aelvin',
    'ıstanbul',
    'İ',
    'straße',
    'é',
    'e\u0301',
    '\u202ea',
  ],
  ...[
    'a\u200b',
    '$(id)',
    '`id`',
    "a'b",
    'a"b',
    'a;id',
    'a%2e',
    '%2e%2e',
    'a'.repeat(101),
    'a:b',
    '~a',
  ],
]

t.test('what is made has a plain name', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library' })).status, 201)
  for (const name of NAMES) {
    const shown = JSON.stringify(name).slice(0, 40)
    const made = await ada.api('POST', '/user/repos', { name })
    t.equal(made.status, 422, `a repository named ${shown}`)
    const renamed = await ada.api('PATCH', '/repos/ada/library', { name })
    t.equal(renamed.status, 422, `a repository renamed to ${shown}`)
    t.equal(
      (await ada.api('POST', '/orgs', { username: name })).status,
      422,
      `an organization named ${shown}`,
    )
  }
  t.equal((await ada.api('POST', '/user/repos', { name: 'LIBRARY' })).status, 409)
  t.equal((await ada.api('POST', '/orgs', { username: 'ADA' })).status, 422)
  for (const name of ['../x', '-x', '\u212aim']) {
    const { exitCode } = await gatehouse.run(
      'user',
      'create',
      '--password',
      'long enough',
      '--',
      name,
    )
    t.equal(exitCode, 1, `a user named ${name}`)
  }
  const { body } = await ada.api('GET', '/user/repos')
  t.match(body, [{ full_name: 'ada/library' }])
})

/** What git says of itself when it takes a name for an option. */
const USAGE = /usage: git|unknown option|unrecognized argument/i

t.test('a branch name is never an option of git', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  const folder = await temporaryFolder(t)
  const target = join(folder, 'written')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)
  t.equal((await ada.api('POST', '/user/repos', { name: 'empty' })).status, 201)
  const options = [
    ...[
      `--output=${target}`,
      `--outp=${target}`,
      '--upload-pack=x',
      '--upl=x',
      `--exec=touch ${target}`,
    ],
    ...[
      '-h',
      '--help',
      '-d',
      `-F${target}`,
      '-O./x',
      '--',
      '-',
      '-c',
      `$(touch ${target})`,
      `a;touch ${target}`,
    ],
    ...[
      '..',
      'a..b',
      '@{u}',
      'HEAD',
      '@',
      'a b',
      'a\nb',
      'a\0b',
      'x.lock',
      '.x',
      'a//b',
      '/a',
      'a/',
      '\\',
    ],
  ]
  for (const branch of options) {
    const shown = JSON.stringify(branch)
    for (const repository of ['library', 'empty']) {
      const path = `/repos/ada/${repository}`
      const changed = await ada.api('PATCH', path, { default_branch: branch })
      t.equal(changed.status, 422, `PATCH ${repository} to ${shown}`)
      t.notMatch(JSON.stringify(changed.body), USAGE)
    }
    const wanted = { name: 'another', auto_init: true, default_branch: branch }
    const made = await ada.api('POST', '/user/repos', wanted)
    t.equal(made.status, 422, `auto_init on ${shown}`)
    t.notMatch(JSON.stringify(made.body), USAGE)
  }
  t.notOk(existsSync(target), 'no file was written')
  t.notMatch(gatehouse.log(), USAGE)
  t.equal((await ada.api('GET', '/repos/ada/another')).status, 404)
})

t.test('only the four requests of the smart protocol reach git', async (t) => {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)
  const authorization = `Authorization: token ${ada.token}\r\nConnection: close\r\n`
  const services = [
    ...['git-upload-archive', 'git-shell', '--help', '-h', 'git-upload-pack%20--help', ''],
    ...['git-upload-pack;id', 'git-upload-pack%00', '../git-upload-pack', 'GIT-UPLOAD-PACK'],
  ]
  for (const service of services) {
    const get = `GET /ada/library.git/info/refs?service=${service} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`
    const asked = await converse(gatehouse.port, [get])
    t.ok([400, 403, 404].includes(asked.statuses[0] ?? 0), `GET ${service}: ${asked.statuses}`)
    t.notMatch(asked.text, USAGE)
    const post =
      `POST /ada/library.git/${service} HTTP/1.1\r\nHost: a\r\n${authorization}` +
      'Content-Length: 4\r\nContent-Type: application/x-git-upload-pack-request\r\n\r\n0000'
    const sent = await converse(gatehouse.port, [post])
    t.ok([400, 404, 405].includes(sent.statuses[0] ?? 0), `POST ${service}: ${sent.statuses}`)
    t.notMatch(sent.text, USAGE)
  }
  for (const protocol of [
    'version=9',
    'version=2; id',
    'version=2\nx',
    '--help',
    'x'.repeat(300),
  ]) {
    const cwd = await temporaryFolder(t)
    const header = `http.extraHeader=Git-Protocol: ${protocol.replace('\n', ' ')}`
    const { exitCode } = await tryGit(
      ['-c', 'protocol.version=0', '-c', header, 'ls-remote', ada.remote('ada/library.git')],
      { cwd },
    )
    t.equal(exitCode, 0, `Git-Protocol: ${JSON.stringify(protocol).slice(0, 30)} is not heeded`)
  }
})
