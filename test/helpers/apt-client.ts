/** The real apt and dpkg in a root folder, isolated from the machine's configuration. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface AptOptions {
  /** Lines of sources.list; `KEY` is replaced by the path of the key file. */
  readonly sources: readonly string[]
  /** Key of the repository, armored or binary. */
  readonly key: Uint8Array
  /** Content of a file in auth.conf.d. */
  readonly auth?: string
  /** True to download Contents files, as on a machine with the package apt-file. */
  readonly hasContents?: true
}

export interface AptEnd {
  readonly exitCode: number | undefined
  /** Standard output followed by standard error. */
  readonly output: string
}

export interface AptRoot {
  readonly folder: string
  /** Runs `apt-get …`. */
  get(...args: readonly string[]): Promise<AptEnd>
  /** Runs `apt-cache …`. */
  cache(...args: readonly string[]): Promise<AptEnd>
  /** Returns the lines of the downloaded Contents files, in which apt-file searches. */
  contents(): Promise<readonly string[]>
  /** Returns the versions of installed packages by name. */
  installed(): Promise<Readonly<Record<string, string>>>
  /** Replaces its sources.list. */
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

/** Creates a root folder without installed packages. */
export async function newAptRoot(
  t: Teardown,
  { sources, key, auth, hasContents }: AptOptions,
): Promise<AptRoot> {
  const folder = await temporaryFolder(t)
  for (const path of FOLDERS) await mkdir(join(folder, path), { recursive: true })
  const keyFile = join(folder, `key.${key[0] === 0x2d ? 'asc' : 'gpg'}`)
  await writeFile(keyFile, key)
  await writeFile(join(folder, 'var/lib/dpkg/status'), '')
  await writeFile(join(folder, 'apt.conf'), configurationOf(folder) + (hasContents ? CONTENTS : ''))
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
    async contents() {
      const filter = ['--format', '$(FILENAME)', 'Created-By: Contents-deb']
      const files = (await run('apt-get', 'indextargets', ...filter)).output.trim().split('\n')
      const texts = await Promise.all(files.map((file) => run(APT_HELPER, 'cat-file', file)))
      return texts.flatMap(({ output }) => output.trim().split('\n'))
    },
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

/** Program of apt that apt-file runs to read an index file. */
const APT_HELPER = '/usr/lib/apt/apt-helper'

/**
 * The configuration of apt that the package apt-file has. The package is not installed, because
 * the machine's own apt would download the Contents files of Debian.
 */
const CONTENTS = `
Acquire::IndexTargets::deb::Contents-deb {
  MetaKey "$(COMPONENT)/Contents-$(ARCHITECTURE)";
  ShortDescription "Contents-$(ARCHITECTURE)";
  Description "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Contents (deb)";
  PDiffs "true";
  KeepCompressed "true";
};
`

/** Returns the file for APT_CONFIG, with which apt ignores the machine's configuration. */
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
