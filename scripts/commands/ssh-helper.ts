/** Helper program between sshd and the gateway: installation and configuration lines. */

import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { findProgramFile } from '../../conf/lib/program-file.js'
import type { Settings } from '../../conf/settings.js'
import type { ListedKey } from '../../sql/accounts/keys.js'
import { CommandError } from './command.js'

/** Default folder of the helper. */
export const HELPER_FOLDER = '/usr/local/lib/gatehouse'
export const HELPER_NAME = 'gatehouse-ssh'

const SOURCE = findProgramFile('scripts/gatehouse-ssh.c')

const COMPILE_MS = 120_000
const USER_PATH = '/usr/local/bin:/usr/bin:/bin'

/** Compiles the helper into a folder and returns its path. Throws CommandError on failure. */
export async function installHelper(folder: string): Promise<string> {
  if (process.getuid?.() !== 0) {
    throw new CommandError('run this as root: sshd runs only programs that root owns')
  }
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755)
  const path = join(folder, HELPER_NAME)
  const fresh = `${path}.${process.pid}`
  try {
    // A static program starts in a third of the time, but not every system has a static libc.
    if (!(await compile(['-static', '-o', fresh]))) await compileOrThrow(['-o', fresh])
    await chmod(fresh, 0o755)
    await rename(fresh, path)
  } finally {
    await rm(fresh, { force: true })
  }
  return path
}

async function compile(options: readonly string[]): Promise<boolean> {
  return (await runCompiler(options)) === undefined
}

async function compileOrThrow(options: readonly string[]): Promise<void> {
  const complaint = await runCompiler(options)
  if (complaint === undefined) return
  throw new CommandError(
    `the helper was not compiled: ${complaint}\n` +
      'Install a C compiler (Debian: apt-get install gcc libc6-dev), or compile on another machine:' +
      ` cc -O2 -static -o ${HELPER_NAME} ${SOURCE}`,
  )
}

/** Runs the compiler. Returns its error output; undefined if it succeeded. */
async function runCompiler(options: readonly string[]): Promise<string | undefined> {
  try {
    const { exitCode, errorText } = await runToEnd('cc', ['-O2', ...options, SOURCE], {
      environment: { PATH: USER_PATH, LC_ALL: 'C' },
      timeoutMs: COMPILE_MS,
      outputBytesMax: 65_536,
    })
    return exitCode === 0 ? undefined : errorText.trim()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Returns the line of authorized_keys that binds a key to the helper. */
export function keyLine(
  { algorithm, base64, fingerprint }: ListedKey,
  { helper, socket }: { readonly helper: string; readonly socket: string },
): string {
  return `restrict,command="exec ${helper} serve ${socket} ${fingerprint}" ${algorithm} ${base64}`
}

/** Returns the lines of sshd_config below `Match User`, as in conf/sshd_config.example. */
export function sshdLines(helper: string, { ssh }: Pick<Settings, 'ssh'>): readonly string[] {
  return [
    'AuthorizedKeysFile none',
    `AuthorizedKeysCommand ${helper} keys ${ssh.socket} %t %k`,
    `AuthorizedKeysCommandUser ${ssh.user}`,
    'AcceptEnv GIT_PROTOCOL',
  ]
}
