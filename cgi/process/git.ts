/** The git installation of this system: its location, environment and one-shot commands. */

import { constants, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { saysDiskIsFull } from '../../conf/disk-failure.js'
import { findProgramFile } from '../../conf/lib/program-file.js'
import {
  type Command,
  findPrlimit,
  GIT_COMMAND_MS,
  GIT_MEMORY_BYTES_MAX,
  GIT_OUTPUT_BYTES_MAX,
  type GitLimiter,
  type GitWork,
  limitedCommand,
  limitFailure,
} from './git-limits.js'
import {
  type InputPieces,
  type ProcessEnd,
  type ProcessOptions,
  type RunningProcess,
  runToEnd,
  type ShortProcessEnd,
  type ShortProcessOptions,
  startProcess,
  startProcessNow,
} from './run.js'

/** The git installation of this machine. */
export interface Git extends GitLimiter {
  /** Absolute path of `git`. */
  readonly file: string
  /** Folder of git's own programs (`git --exec-path`). */
  readonly execPath: string
  readonly version: readonly [major: number, minor: number, patch: number]
  /** Absolute path of `git-http-backend`. */
  readonly backend: string
  /** Absolute path of conf/git.config. */
  readonly configFile: string
}

/** A setting of git, such as `receive.maxInputSize`. */
export type GitSetting = readonly [key: string, value: string]

/** Folders that are searched for programs. */
export const PROGRAM_FOLDERS: readonly string[] = [
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/opt/homebrew/bin',
  '/run/current-system/sw/bin',
]

/** Version of the oldest supported system (Ubuntu 22.04). */
const VERSION_MIN = [2, 34, 0] as const

/** Finds git and its HTTP backend. Throws an Error that names a missing program. */
export async function findGit(directories: readonly string[] = PROGRAM_FOLDERS): Promise<Git> {
  const file = directories.map((folder) => join(folder, 'git')).find((path) => existsSync(path))
  if (file === undefined) throw new Error(`git is missing: none in ${directories.join(', ')}`)
  const unchecked = { prlimit: findPrlimit(directories), memoryBytesMax: GIT_MEMORY_BYTES_MAX }
  const [{ limiter, version }, execPath] = await Promise.all([
    readVersion(unchecked, file),
    readProgramOutput([file, '--exec-path']),
  ])
  if (compareVersions(version, VERSION_MIN) < 0) {
    throw new Error(`git ${version.join('.')} is too old: ${VERSION_MIN.join('.')} is needed`)
  }
  const backend = join(execPath, 'git-http-backend')
  await access(backend, constants.X_OK).catch((cause: unknown) => {
    throw new Error(`${backend} is missing; some systems package it as git-daemon`, { cause })
  })
  const configFile = findProgramFile('conf/git.config')
  return { ...limiter, file, execPath, version, backend, configFile }
}

/** Reads git's version under limits, or without prlimit if a container forbids limits. */
async function readVersion(limiter: GitLimiter, file: string) {
  const read = async (possible: GitLimiter) => {
    const text = await readProgramOutput(limitedCommand(possible, 'import', [file, '--version']))
    return { limiter: possible, version: parseVersion(text) }
  }
  return await read(limiter).catch(() => read({ ...limiter, prlimit: undefined }))
}

/** Starts a program of git under the limits of its work. See `startProcess`. */
export async function startGit(
  git: Git,
  work: GitWork,
  command: Command,
  options: ProcessOptions,
): Promise<RunningProcess> {
  const [file, ...args] = limitedCommand(git, work, command)
  return await startProcess(file, args, { name: command[0], errorOf: limitFailure, ...options })
}

/** Starts a program of git like `startGit`. See `startProcessNow`. */
export function startGitNow(
  git: Git,
  work: GitWork,
  command: Command,
  options: Parameters<typeof startProcessNow>[2],
): RunningProcess {
  const [file, ...args] = limitedCommand(git, work, command)
  return startProcessNow(file, args, { name: command[0], errorOf: limitFailure, ...options })
}

/** Runs a short command of git under the limits of its work. See `runToEnd`. */
export async function runGitToEnd(
  git: Git,
  work: GitWork,
  args: readonly string[],
  options: ShortProcessOptions,
): Promise<ShortProcessEnd> {
  const [file, ...words] = limitedCommand(git, work, [git.file, ...args])
  return await runToEnd(file, words, { name: git.file, errorOf: limitFailure, ...options })
}

/** Returns the error of a failed git command: a Failure if it reached a limit. */
export function gitError(name: string | undefined, end: ProcessEnd): Error {
  const { exitCode, errorText } = end
  return limitFailure(end) ?? new Error(`git ${name} failed (${exitCode}): ${firstLine(errorText)}`)
}

/** Returns the complete environment of a git process. Nothing is inherited from the server's. */
export function gitEnvironment(
  git: Git,
  options: { readonly config: readonly GitSetting[] },
): Record<string, string> {
  const environment: Record<string, string> = {
    PATH: `${git.execPath}:${dirname(git.file)}:/usr/bin:/bin`,
    // Not a folder, so git finds no attributes, ignore rules or credentials of a user.
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

/** Environment in which git ignores `refs/replace`: clients do not have the replacements. */
export const NO_REPLACEMENTS = { GIT_NO_REPLACE_OBJECTS: '1' } as const

/** Environment in which git takes paths literally, without patterns. */
export const LITERAL_PATHS = { GIT_LITERAL_PATHSPECS: '1' } as const

/** Folder, input and limits of a one-shot command. */
export interface GitCommandOptions {
  readonly cwd: string
  /** Standard input; an error of the pieces ends git and is thrown. */
  readonly input?: InputPieces | undefined
  /** Variables in addition to those of every git process. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  /** Kind of work, which sets the limits; by default `read`. */
  readonly work?: GitWork
}

/** Runs a short git command. Throws an Error with its name and message if it fails. */
export async function runGit(
  git: Git,
  args: readonly string[],
  options: GitCommandOptions,
): Promise<Buffer> {
  const end = await tryGit(git, args, options)
  if (end.exitCode === 0) return end.output
  throw gitError(args[0], end)
}

/** Runs a short git command whose exit code is a result; does not throw for it. */
export async function tryGit(
  git: Git,
  args: readonly string[],
  { environment, work = 'read', ...options }: GitCommandOptions,
): Promise<ShortProcessEnd> {
  return await runGitToEnd(git, work, args, {
    ...options,
    environment: { ...gitEnvironment(git, { config: [] }), ...environment },
    timeoutMs: GIT_COMMAND_MS,
    outputBytesMax: GIT_OUTPUT_BYTES_MAX,
  })
}

/**
 * Returns the first line of an error text. If a line that is not from the remote side says that the
 * disk is full, returns that line, because it is the cause of the others.
 */
export function firstLine(errorText: string): string {
  const lines = errorText.trimStart().split('\n')
  return lines.find((line) => !line.startsWith('remote:') && saysDiskIsFull(line)) ?? lines[0] ?? ''
}

async function readProgramOutput([file, ...args]: Command): Promise<string> {
  const { exitCode, output, errorText } = await runToEnd(file, args, {
    environment: { LC_ALL: 'C' },
    timeoutMs: GIT_COMMAND_MS,
    outputBytesMax: 4_096,
  })
  if (exitCode !== 0) throw new Error(`${file} ${args[0]} failed: ${firstLine(errorText)}`)
  return output.toString().trim()
}

function parseVersion(text: string): Git['version'] {
  const match = /^git version (\d+)\.(\d+)(?:\.(\d+))?/.exec(text)
  if (match === null) throw new Error('git --version printed no version')
  return [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
}

function compareVersions(one: Git['version'], other: Git['version']): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}
