/** The real sshd on a free port, with the example configuration, in front of a gateway. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { HELPER_NAME, installHelper } from '../../scripts/commands/ssh-helper.js'
import { freePort } from './free-port.js'
import type { Account } from './ssh-account.js'
import { TEMPLATES_VARIABLE } from './templates.js'
import { temporaryFolder } from './temporary.js'

const EXAMPLE = new URL('../../../conf/sshd_config.example', import.meta.url)
const STARTS_WITHIN_MS = 60_000

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface SshdOptions {
  readonly account: Account
  /** Path of the gateway's socket. */
  readonly socket: string
  /** Changes to the example, such as a further line. */
  readonly edit?: (config: string) => string
}

export interface Sshd {
  readonly port: number
  /** Path of the installed helper. */
  readonly helper: string
  readonly configFile: string
  /** Destination for ssh, as `user@host`. */
  readonly host: string
  /** Returns the log of sshd so far. */
  readonly log: () => string
  /** Returns the ssh command line for a private key, without destination and command. */
  clientOf(keyFile: string, ...options: readonly string[]): readonly string[]
  /** Returns the environment in which git uses this ssh command line. */
  environmentOf(keyFile: string): Readonly<Record<string, string>>
}

/** Installs the helper and starts sshd; both are removed at the end of the test. */
export async function startSshd(t: Teardown, options: SshdOptions): Promise<Sshd> {
  const { account, socket, edit = (config) => config } = options
  const folder = await temporaryFolder(t)
  const helper = await copyHelper(await trustedFolder(t))
  const port = await freePort()
  const configFile = join(folder, 'sshd_config')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'hostkey')])
  const example = (await readFile(EXAMPLE, 'utf8'))
    .replace('Match User git', `Match User ${account.name}`)
    .replace('CommandUser git', `CommandUser ${account.name}`)
    .replace('/usr/local/lib/gatehouse/gatehouse-ssh', helper)
    .replace('/var/lib/gatehouse/run/ssh.sock', socket)
  await writeFile(configFile, edit(`${ownLines(folder, port)}\n${example}`))
  // The folder is missing until the system has started its own sshd.
  await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
  const child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', configFile], { cwd: '/' })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const ended = once(child, 'exit')
  process.once('exit', () => child.kill('SIGKILL'))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await untilItListens(port, () => child.exitCode === null)
  const host = `${account.name}@127.0.0.1`
  const clientOf = (keyFile: string, ...more: readonly string[]) => [
    'ssh',
    '-F',
    'none',
    '-p',
    String(port),
    '-i',
    keyFile,
    ...CLIENT_OPTIONS,
    ...more,
  ]
  return {
    port,
    helper,
    configFile,
    host,
    clientOf,
    log: () => log,
    environmentOf: (keyFile) => ({ GIT_SSH_COMMAND: clientOf(keyFile).join(' ') }),
  }
}

/** Writes the helper to a folder and returns its path. A run of the tests compiles it once. */
async function copyHelper(folder: string): Promise<string> {
  const templates = process.env[TEMPLATES_VARIABLE]
  if (templates === undefined) return await installHelper(folder)
  const compiled = join(templates, HELPER_NAME)
  if (!existsSync(compiled)) await installHelper(templates)
  const path = join(folder, HELPER_NAME)
  await copyFile(compiled, path)
  return path
}

/** Returns the configuration of this sshd that is not in the example. */
function ownLines(folder: string, port: number): string {
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${folder}/hostkey`,
    'PidFile none',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    // A login may take long on a busy machine.
    'LoginGraceTime 600',
  ]
  return lines.join('\n')
}

const CLIENT_OPTIONS = [
  '-o',
  'IdentitiesOnly=yes',
  '-o',
  'IdentityAgent=none',
  '-o',
  'BatchMode=yes',
  '-o',
  'StrictHostKeyChecking=no',
  '-o',
  'UserKnownHostsFile=/dev/null',
  '-o',
  'LogLevel=ERROR',
  // The default key exchange takes 60 ms of CPU time more.
  '-o',
  'KexAlgorithms=curve25519-sha256',
]

/** Creates a folder that only root can write, including its parents, as sshd requires. */
async function trustedFolder(t: Teardown): Promise<string> {
  const folder = await mkdtemp('/var/lib/gatehouse-test-')
  await chmod(folder, 0o755)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function untilItListens(port: number, isRunning: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  while (isRunning() && Date.now() < deadlineMs) {
    const socket = connect(port, '127.0.0.1')
    const isUp = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false)
    socket.destroy()
    if (isUp) return
    await sleep(50)
  }
  throw new Error('sshd did not start')
}
