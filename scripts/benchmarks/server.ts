/** Servers under measurement, each with its children in a control group that counts CPU time. */

import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdtemp, readFile, rmdir } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runToEnd, startProcess } from '../../cgi/process/run.js'

/** PATH of servers and clients. */
export const USER_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin'

/** Two days, because `day=24` takes more than one. */
const RUNS_AT_MOST_MS = 172_800_000
const STARTS_WITHIN_MS = 30_000
const POLL_MS = 20

export interface ServerCommand {
  readonly program: readonly [file: string, ...args: string[]]
  readonly environment: Readonly<Record<string, string>>
  readonly logFile: string
  readonly signal: AbortSignal
}

export interface RunningServer {
  stop(): Promise<void>
}

/** Running server with its URL and its CPU group. */
export interface MeasuredServer extends RunningServer {
  readonly url: string
  readonly cpu: CpuGroup
}

/** Starts a program in a group and waits until it accepts connections at the address. */
export async function startServer(
  group: CpuGroup,
  command: ServerCommand,
  address: { readonly port: number } | { readonly path: string },
): Promise<RunningServer> {
  const args = groupArguments(group, command)
  const { environment, signal } = command
  const running = await startProcess('/bin/sh', args, {
    environment,
    signal,
    timeoutMs: RUNS_AT_MOST_MS,
  })
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  const state = { hasEnded: false }
  void running.ended.then(() => {
    state.hasEnded = true
  })
  while (!(await acceptsConnections(address))) {
    if (state.hasEnded || Date.now() > deadlineMs) {
      running.kill()
      const log = await readFile(command.logFile, 'utf8').catch(() => '')
      throw new Error(`${basename(command.program[0])} does not start: ${log.slice(-2_000)}`)
    }
    await sleep(POLL_MS)
  }
  return {
    async stop() {
      if (running.pid !== undefined && !state.hasEnded) terminate(running.pid)
      await Promise.race([running.ended, sleep(STARTS_WITHIN_MS, undefined, { ref: false })])
      running.kill()
      await running.ended
    },
  }
}

/** Sends SIGTERM; ignores a process that has already exited. */
function terminate(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Runs a program in a group and waits for its exit. Throws if it fails. */
export async function runInGroup(group: CpuGroup, command: ServerCommand): Promise<void> {
  const { environment, signal, logFile, program } = command
  const { exitCode } = await runToEnd('/bin/sh', groupArguments(group, command), {
    environment,
    signal,
    timeoutMs: RUNS_AT_MOST_MS,
    outputBytesMax: 0,
  })
  if (exitCode === 0) return
  const log = await readFile(logFile, 'utf8').catch(() => '')
  throw new Error(`${program.slice(0, 4).join(' ')} … failed: ${log.slice(-2_000)}`)
}

/** Returns arguments for a shell that joins the group and then executes the program. */
function groupArguments(group: CpuGroup, { logFile, program }: ServerCommand): readonly string[] {
  const script = 'echo $$ >"$1"; exec >"$2" 2>&1; shift 2; exec "$@"'
  return ['-c', script, 'sh', group.entrance, logFile, ...program]
}

function acceptsConnections(address: { port: number } | { path: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect('port' in address ? { ...address, host: '127.0.0.1' } : address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Returns a loopback port that is not in use. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string')
    throw new Error('the system assigned no port')
  return address.port
}

export interface CpuGroup {
  /** File to which a process writes its id to join the group. */
  readonly entrance: string
  cpuMs(): Promise<number | undefined>
  /** Returns the peak memory in bytes of each process in the group, largest first. */
  memoryPeaks(): Promise<readonly number[]>
  remove(): Promise<void>
}

/**
 * Creates a control group (version 2, which counts CPU time without a controller). The process
 * times of children are not sufficient, because fcgiwrap ignores SIGCHLD and the kernel then
 * discards them. Without permission to create a group (usually root's), nothing is counted.
 */
export async function createCpuGroup(name: string): Promise<CpuGroup> {
  const root = await findCgroupRoot()
  if (root === undefined) {
    const unknown = { cpuMs: async () => undefined, memoryPeaks: async () => [] }
    return { entrance: '/dev/null', ...unknown, remove: async () => {} }
  }
  const folder = await mkdtemp(join(root, `gatehouse-bench-${name}-`))
  return {
    entrance: join(folder, 'cgroup.procs'),
    async cpuMs() {
      const stat = await readFile(join(folder, 'cpu.stat'), 'utf8')
      return Number(/^usage_usec (\d+)$/m.exec(stat)?.[1]) / 1_000
    },
    async memoryPeaks() {
      const pids = (await readFile(join(folder, 'cgroup.procs'), 'utf8')).trim().split('\n')
      const peaks = await Promise.all(pids.map(readMemoryPeak))
      return peaks.sort((one, other) => other - one)
    },
    async remove() {
      for (let attempt = 0; attempt < 50; attempt += 1) {
        const isRemoved = await rmdir(folder).then(
          () => true,
          () => false,
        )
        if (isRemoved) return
        await sleep(POLL_MS)
      }
    },
  }
}

/** Returns the peak memory of a process in bytes; 0 if it has exited. */
async function readMemoryPeak(pid: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024
}

async function findCgroupRoot(): Promise<string | undefined> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const root = /^\S+ (\S+) cgroup2 /m.exec(mounts)?.[1]
  if (root === undefined) return undefined
  return access(root, constants.W_OK).then(
    () => root,
    () => undefined,
  )
}
