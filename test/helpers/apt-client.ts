/** The real apt and dpkg, in a root of their own which knows of no machine around it. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface AptOptions {
  /** Lines of sources.list; `KEY` stands for the file of the key. */
  readonly sources: readonly string[]
  /** The key of the repository, in either form. */
  readonly key: Uint8Array
  /** What its auth.conf.d says. */
  readonly auth?: string
}

export interface AptEnd {
  readonly exitCode: number | undefined
  /** What it said, on both of its outputs. */
  readonly output: string
}

export interface AptRoot {
  readonly folder: string
  /** Runs `apt-get …`. */
  get(...args: readonly string[]): Promise<AptEnd>
  /** Runs `apt-cache …`. */
  cache(...args: readonly string[]): Promise<AptEnd>
  /** What is installed: versions by name. */
  installed(): Promise<Readonly<Record<string, string>>>
  /** Writes its sources.list anew. */
  setSources(...lines: readonly string[]): Promise<void>
}

const TIMEOUT_MS = 120_000
const FOLDERS = [
  'var/lib/apt/lists/partial',
  'var/lib/dpkg/info',
  'var/lib/dpkg/updates',
  'var/cache/apt/archives/partial',
  'var/log/apt',
  'etc/apt/auth.conf.d',
  'etc/apt/apt.conf.d',
  'etc/apt/preferences.d',
]

/** A new root in which nothing is installed. */
export async function newAptRoot(
  t: Teardown,
  { sources, key, auth }: AptOptions,
): Promise<AptRoot> {
  const folder = await temporaryFolder(t)
  for (const path of FOLDERS) await mkdir(join(folder, path), { recursive: true })
  const keyFile = join(folder, `key.${key[0] === 0x2d ? 'asc' : 'gpg'}`)
  await writeFile(keyFile, key)
  await writeFile(join(folder, 'var/lib/dpkg/status'), '')
  await writeFile(join(folder, 'apt.conf'), configurationOf(folder))
  if (auth !== undefined) await writeFile(join(folder, 'etc/apt/auth.conf.d/test.conf'), auth)
  const environment = {
    PATH: `${process.env['PATH'] ?? '/usr/bin:/bin'}:/usr/sbin:/sbin`,
    APT_CONFIG: join(folder, 'apt.conf'),
    DEBIAN_FRONTEND: 'noninteractive',
    LC_ALL: 'C',
  }
  const run = async (program: string, ...args: readonly string[]): Promise<AptEnd> => {
    const { exitCode, output, errorText } = await runToEnd(program, args, {
      cwd: folder,
      environment,
      timeoutMs: TIMEOUT_MS,
      outputBytesMax: 1 << 20,
    })
    return { exitCode, output: `${output}${errorText}` }
  }
  const root: AptRoot = {
    folder,
    get: (...args) => run('apt-get', ...args),
    cache: (...args) => run('apt-cache', ...args),
    async installed() {
      const format = ['--showformat', '$' + '{Package} $' + '{Version}\n', '--show']
      const { output } = await run('dpkg-query', `--admindir=${folder}/var/lib/dpkg`, ...format)
      const lines = output.split('\n').filter((line) => /^\S+ \S+$/.test(line))
      return Object.fromEntries(lines.map((line) => line.split(' ')))
    },
    async setSources(...lines) {
      const text = lines.map((line) => `${line.replaceAll('KEY', keyFile)}\n`).join('')
      await writeFile(join(folder, 'etc/apt/sources.list'), text)
    },
  }
  await root.setSources(...sources)
  return root
}

/** With APT_CONFIG, nothing of the machine's own configuration is read. */
function configurationOf(folder: string): string {
  const dpkg = [
    `--root=${folder}`,
    '--force-not-root',
    '--force-script-chrootless',
    `--log=${folder}/var/log/dpkg.log`,
  ]
  return `
    Dir "${folder}";
    Dir::State "${folder}/var/lib/apt";
    Dir::State::status "${folder}/var/lib/dpkg/status";
    Dir::Cache "${folder}/var/cache/apt";
    Dir::Etc "${folder}/etc/apt";
    Dir::Log "${folder}/var/log/apt";
    Dir::Bin::methods "/usr/lib/apt/methods";
    Dir::Bin::dpkg "/usr/bin/dpkg";
    APT::Architecture "amd64";
    APT::Architectures { "amd64"; };
    APT::Sandbox::User "root";
    Acquire::Languages "none";
    Acquire::Retries "0";
    DPkg::Options { ${dpkg.map((option) => `"${option}";`).join(' ')} };
  `
}
