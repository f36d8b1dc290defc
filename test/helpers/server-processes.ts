/** Processes, memory, open files and stale files of a running server, from /proc and the disk. */

import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { walk } from '../../cgi/repository/walk.js'

/** Returns the process ids of a supervisor's workers. */
export async function workersOf(supervisor: number): Promise<readonly number[]> {
  const children = await childrenOf(supervisor)
  const lines = await Promise.all(
    children.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  return children.filter((_, index) => lines[index]?.includes('gatehouse.js'))
}

/** Server that can be killed. */
interface Victim {
  readonly pid: number
  readonly dataDir: string
  stop(signal?: NodeJS.Signals): Promise<unknown>
}

/** Kills a server and its workers, and with `withGit` also its git processes. */
export async function killServer(
  server: Victim,
  { withGit = false }: { readonly withGit?: boolean } = {},
): Promise<void> {
  const workers = await workersOf(server.pid)
  const gits = withGit ? await gitProcessesOf(server.dataDir) : []
  killNow(server.pid, ...workers, ...gits.map(({ pid }) => pid))
  await server.stop('SIGKILL')
}

/** Sends SIGKILL to processes; those that have already ended are ignored. */
export function killNow(...pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** Counts the sockets that listen on a port of 127.0.0.1: one for each serving worker. */
export async function listenersOn(port: number): Promise<number> {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n')
  // proc(5): 0A is a socket that listens.
  return lines.filter((line) => line.includes(`: ${address} 00000000:0000 0A `)).length
}

export interface Memory {
  readonly nowBytes: number
  /** Peak since the start of the process, or since `forgetPeak`. */
  readonly peakBytes: number
}

/** Returns the resident memory of a process. */
export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kib = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN)
  return { nowBytes: kib('VmRSS') * 1_024, peakBytes: kib('VmHWM') * 1_024 }
}

/** Resets the peak memory of a process (proc(5), clear_refs). */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

/** Runs the action; returns the peak memory of each process during it. */
export async function peaksDuring(
  pids: readonly number[],
  action: () => Promise<unknown>,
): Promise<readonly number[]> {
  await Promise.all(pids.map(forgetPeak))
  await action()
  return (await Promise.all(pids.map(memoryOf))).map(({ peakBytes }) => peakBytes)
}

/** Counts the open files and sockets of a process. */
export async function openFilesOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** Number of files that a worker may open once and keep open, such as the database. */
const FILES_SLACK = 16

/** Waits until the numbers of open files are back to `before`; returns the last numbers. */
export async function untilFilesAreClosed(
  pids: readonly number[],
  before: readonly number[],
  withinMs: number,
): Promise<{ readonly files: readonly number[]; readonly isBack: boolean }> {
  const isBack = (files: readonly number[]) =>
    files.every((count, index) => count <= (before[index] ?? 0) + FILES_SLACK)
  const files = await until(() => Promise.all(pids.map(openFilesOf)), isBack, withinMs)
  return { files, isBack: isBack(files) }
}

export interface GitProcess {
  readonly pid: number
  readonly command: string
}

/** Command of the readers that a worker keeps for a while between requests. */
const KEPT = /cat-file\0--batch-command\0$/

/** Returns the git processes that work on repositories of a data folder, without kept readers. */
export async function gitProcessesOf(dataDir: string): Promise<readonly GitProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(pids.map((pid) => gitProcessOf(pid, dataDir)))
  return found.filter((each) => each !== undefined)
}

/**
 * Returns the git processes that a server and its workers started. Takes a tenth of the time of
 * `gitProcessesOf`, but does not find those of the SSH helper, nor those whose parent has ended.
 */
export async function gitProcessesBelow(pid: number): Promise<readonly GitProcess[]> {
  const children = await childrenOf(pid)
  const found = await Promise.all(
    children.map(async (child) => {
      const command = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')
      const own = { pid: child, command: command.replaceAll('\0', ' ') }
      const isCounted = /^[^\0]*git/.test(command) && !KEPT.test(command)
      return [...(isCounted ? [own] : []), ...(await gitProcessesBelow(child))]
    }),
  )
  return found.flat()
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const path = `/proc/${pid}/task/${pid}/children`
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

async function gitProcessOf(pid: number, dataDir: string): Promise<GitProcess | undefined> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (!/^[^\0]*git/.test(command) || KEPT.test(command)) return undefined
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  const isOurs = environment.includes(dataDir) || folder.startsWith(dataDir)
  return isOurs ? { pid, command: command.replaceAll('\0', ' ') } : undefined
}

const STALE_NAME =
  /^(?:incoming-|tmp_|.*\.lock$|.*\.trash-|.*\.new-)|^[0-9a-f]{24}\.(?:json|updates)|\.keep$|^packed-refs\.new$/

/** Lists files that an interrupted push, a killed server or a deletion may leave. */
export async function listStaleFilesIn(dataDir: string): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { path, name } of walk(dataDir)) if (STALE_NAME.test(name)) found.push(path)
  return found
}

/** Polls a value until it is the wanted one or the time has passed; returns the last value. */
export async function until<T>(
  read: () => Promise<T>,
  isWanted: (value: T) => boolean,
  withinMs: number,
): Promise<T> {
  const deadlineMs = Date.now() + withinMs
  for (;;) {
    const value = await read()
    if (isWanted(value) || Date.now() > deadlineMs) return value
    await sleep(50)
  }
}
