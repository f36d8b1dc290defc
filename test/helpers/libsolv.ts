/** Alpine indexes and packages as parsed by libsolv, which scripts/apk-toolchain compiles. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

const TOOLS = fileURLToPath(new URL('../../../.programs/libsolv', import.meta.url))

/** Package attributes under libsolv's names: `name`, `evr`, `requires`, `hdrid` and so on. */
export type SolvPackage = Readonly<Record<string, unknown>>

/** Reads an APKINDEX.tar.gz. */
export async function solvIndex(t: Test, bytes: Uint8Array): Promise<readonly SolvPackage[]> {
  const folder = await temporaryFolder(t)
  return await listPackages(folder, await packagesOfIndex(folder, bytes))
}

/** Reads a package's file. */
export async function solvPackage(t: Test, bytes: Uint8Array): Promise<SolvPackage> {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, FILE), bytes)
  const packages = await run(folder, 'apk2solv', ['-C', FILE])
  const [only, ...more] = await listPackages(folder, packages)
  if (only === undefined || more.length > 0)
    throw new Error('the file does not have exactly one package')
  const { mediafile: _, ...rest } = only
  return rest
}

export interface SolvQuery {
  readonly index: Uint8Array
  /** Architecture of the machine, on which no package is installed. */
  readonly arch: string
  /** Jobs such as `name hello`, `name hello = 1.0-r0`, `provides cmd:hello`. */
  readonly wanted: readonly string[]
}

export interface SolvAnswer {
  /** Sorted packages such as `hello-1.0-r0.x86_64`. */
  readonly installed: readonly string[]
  /** Reasons why the jobs cannot be done completely. */
  readonly problems: readonly string[]
}

/** Resolves the packages to install. */
export async function solvInstall(
  t: Test,
  { index, arch, wanted }: SolvQuery,
): Promise<SolvAnswer> {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'index.solv'), await packagesOfIndex(folder, index))
  const lines = [
    'repo system 0 empty',
    'repo available 0 solv index.solv',
    `system ${arch} apk system`,
    ...wanted.map((one) => `job install ${one}`),
  ]
  await writeFile(join(folder, 'install.t'), `${lines.join('\n')}\n`)
  const text = (await run(folder, 'testsolv', ['-r', 'install.t'])).toString()
  const find = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found]) => found ?? '')
  return {
    installed: find(/^install (\S+)@available$/gm).sort(),
    problems: find(/^problem \S+ info (.+)$/gm),
  }
}

const FILE = 'given'

/** Converts an index to libsolv's format. */
async function packagesOfIndex(folder: string, bytes: Uint8Array): Promise<Buffer> {
  await writeFile(join(folder, FILE), bytes)
  return await run(folder, 'apk2solv', ['-r', '-C', FILE])
}

interface Dump {
  readonly repositories: ReadonlyArray<{ readonly solvables: readonly SolvPackage[] }>
}

async function listPackages(folder: string, packages: Buffer): Promise<readonly SolvPackage[]> {
  const json = await run(folder, 'dumpsolv', ['-j'], packages)
  const { repositories } = JSON.parse(json.toString()) as Dump
  return repositories.flatMap(({ solvables }) => solvables.map(tidied))
}

/** Shortens the keys and sorts lists, because their order in libsolv is undefined. */
function tidied(solvable: SolvPackage): SolvPackage {
  const entries = Object.entries(solvable).map(([key, value]) => [
    key.replace(/^solvable:/, ''),
    Array.isArray(value) ? value.toSorted() : value,
  ])
  return Object.fromEntries(entries)
}

/** Runs a tool. Throws if it writes to standard error, because some tools exit with 0 anyway. */
async function run(
  cwd: string,
  tool: string,
  args: readonly string[],
  input?: Uint8Array,
): Promise<Buffer> {
  const { exitCode, output, errorText } = await runToEnd(join(TOOLS, tool), args, {
    cwd,
    environment: { LC_ALL: 'C' },
    input,
    timeoutMs: 60_000,
    outputBytesMax: 16 << 20,
  })
  if (exitCode === 0 && errorText === '') return output
  throw new Error(`${tool} ${args.join(' ')}: ${errorText}`)
}
