/** The git of this system: where it is, the environment it gets, and one-shot commands. */

import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { GIT_COMMAND_MS, GIT_OUTPUT_BYTES_MAX } from '../conf/limits.js'
import { findProgramFile } from '../conf/program-file.js'
import { runToEnd, type ShortProcessEnd } from './run.js'

/** The git that this machine has. */
export interface Git {
  /** Absolute path of `git`. */
  readonly file: string
  /** Where git keeps its own programs (`git --exec-path`). */
  readonly execPath: string
  readonly version: readonly [major: number, minor: number, patch: number]
  /** Absolute path of `git-http-backend`. */
  readonly backend: string
  /** Absolute path of conf/git.config. */
  readonly configFile: string
}

/** One setting of git, such as `receive.maxInputSize`, that follows from a setting of ours. */
export type GitSetting = readonly [key: string, value: string]

/** Where systems keep programs. */
export const PROGRAM_FOLDERS: readonly string[] = [
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/opt/homebrew/bin',
  '/run/current-system/sw/bin',
]

/** What the oldest of the supported systems ships (Ubuntu 22.04). */
const VERSION_MIN = [2, 34, 0] as const

/** Finds git and its HTTP backend. Throws an Error that tells the administrator what is missing. */
export async function findGit(directories: readonly string[] = PROGRAM_FOLDERS): Promise<Git> {
  const file = directories.map((folder) => join(folder, 'git')).find((path) => existsSync(path))
  if (file === undefined) throw new Error(`git is missing: none in ${directories.join(', ')}`)
  const version = parseVersion(await askGit(file, '--version'))
  if (compareVersions(version, VERSION_MIN) < 0) {
    throw new Error(`git ${version.join('.')} is too old: ${VERSION_MIN.join('.')} is needed`)
  }
  const execPath = await askGit(file, '--exec-path')
  const backend = join(execPath, 'git-http-backend')
  await access(backend, constants.X_OK).catch((cause: unknown) => {
    throw new Error(`${backend} is missing; some systems pack it apart (git-daemon)`, { cause })
  })
  return { file, execPath, version, backend, configFile: findProgramFile('conf/git.config') }
}

/** The whole environment of a git process: nothing of the user's, and our hardened profile. */
export function gitEnvironment(
  git: Git,
  options: { readonly config: readonly GitSetting[] },
): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: `${git.execPath}:${dirname(git.file)}:/usr/bin:/bin`,
    // No folder at all: git finds no attributes, ignore rules or credentials of a user.
    HOME: '/dev/null',
    LC_ALL: 'C',
    GIT_CONFIG_SYSTEM: git.configFile,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(options.config.length),
  }
  for (const [index, [key, value]] of options.config.entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return environment
}

/** Where and with what a one-shot command runs. */
export interface GitCommandOptions {
  readonly cwd: string
  readonly input?: string | Uint8Array | undefined
  /** Variables besides those that every git process gets. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Runs a short git command. Throws an Error with its name and complaint when it fails: a bug. */
export async function runGit(
  git: Git,
  args: readonly string[],
  options: GitCommandOptions,
): Promise<Buffer> {
  const { exitCode, output, errorText } = await tryGit(git, args, options)
  if (exitCode === 0) return output
  throw new Error(`git ${args[0]} failed (${exitCode}): ${firstLine(errorText)}`)
}

/** Runs a short git command whose exit code is an answer. */
export async function tryGit(
  git: Git,
  args: readonly string[],
  { environment, ...options }: GitCommandOptions,
): Promise<ShortProcessEnd> {
  return await runToEnd(git.file, args, {
    ...options,
    environment: { ...gitEnvironment(git, { config: [] }), ...environment },
    timeoutMs: GIT_COMMAND_MS,
    outputBytesMax: GIT_OUTPUT_BYTES_MAX,
  })
}

/** The first line of what a program complained about. */
export function firstLine(errorText: string): string {
  return errorText.trimStart().split('\n', 1)[0] ?? ''
}

async function askGit(file: string, question: string): Promise<string> {
  const { exitCode, output, errorText } = await runToEnd(file, [question], {
    environment: { LC_ALL: 'C' },
    timeoutMs: GIT_COMMAND_MS,
    outputBytesMax: 4_096,
  })
  if (exitCode !== 0) throw new Error(`${file} ${question} failed: ${firstLine(errorText)}`)
  return output.toString().trim()
}

function parseVersion(text: string): Git['version'] {
  const match = /^git version (\d+)\.(\d+)(?:\.(\d+))?/.exec(text)
  if (match === null) throw new Error('git does not tell its version')
  return [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
}

function compareVersions(one: Git['version'], other: Git['version']): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}
