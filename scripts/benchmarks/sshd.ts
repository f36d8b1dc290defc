/** Sshd under measurement, with temporary accounts; requires root. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { type CpuGroup, type RunningServer, startServer, USER_PATH } from './server.js'

const COMMAND_MS = 60_000

/** Runs a program of the system. Throws if it fails. */
export async function runProgram(file: string, ...args: readonly string[]): Promise<string> {
  const { exitCode, output, errorText } = await runToEnd(file, args, {
    environment: { PATH: USER_PATH, LC_ALL: 'C' },
    timeoutMs: COMMAND_MS,
    outputBytesMax: 65_536,
  })
  if (exitCode !== 0) throw new Error(`${file} ${args.join(' ')}: ${errorText}`)
  return output.toString()
}

/** Creates a system account with a shell that can sign in over SSH with a key. */
export async function makeAccount(name: string, shell: string): Promise<void> {
  const options = ['--system', '--no-create-home', '--home-dir', '/', '--user-group']
  await runProgram('useradd', ...options, '--shell', shell, '--password', '*', name)
}

export interface SshdOptions {
  /** Folder for its configuration, key and log. */
  readonly folder: string
  readonly port: number
  /** Additional configuration lines of this side. */
  readonly lines: readonly string[]
  readonly signal: AbortSignal
}

/** Starts sshd in a CPU group. */
export async function startSshd(
  cpu: CpuGroup,
  { folder, port, lines, signal }: SshdOptions,
): Promise<RunningServer> {
  const hostKey = join(folder, `hostkey-${port}`)
  await runProgram('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', hostKey)
  await runProgram('install', '-d', '-m', '755', '/run/sshd')
  const own = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${hostKey}`,
    'PidFile none',
    'UsePAM no',
    'PasswordAuthentication no',
    'MaxStartups 200:30:500',
  ]
  const configFile = join(folder, `sshd_config-${port}`)
  await writeFile(configFile, `${[...own, ...lines].join('\n')}\n`)
  const program = ['/usr/sbin/sshd', '-D', '-e', '-f', configFile] as const
  const logFile = join(folder, `sshd-${port}.log`)
  return startServer(cpu, { program, environment: { PATH: USER_PATH }, logFile, signal }, { port })
}

/** Creates a key pair; `sshTo` returns a value for GIT_SSH_COMMAND. */
export async function makeKey(folder: string): Promise<{
  readonly publicKey: string
  sshTo(port: number): string
}> {
  const file = join(folder, 'client-key')
  await runProgram('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file)
  const options = ['IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'LogLevel=ERROR']
  const words = [...options, 'UserKnownHostsFile=/dev/null'].flatMap((option) => ['-o', option])
  return {
    publicKey: (await readFile(`${file}.pub`, 'utf8')).trim(),
    sshTo: (port) => ['ssh', '-F', 'none', '-p', String(port), '-i', file, ...words].join(' '),
  }
}
