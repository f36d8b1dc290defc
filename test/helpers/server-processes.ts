/** What a running server holds, as the kernel tells it: processes, memory, open files, leavings. */

import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { walk } from '../../cgi/repository/walk.js'

/** The workers of a supervisor. */
export async function workersOf(supervisor: number): Promise<readonly number[]> {
  const path = `/proc/${supervisor}/task/${supervisor}/children`
  const children = (await readFile(path, 'utf8')).trim().split(' ').map(Number)
  const lines = await Promise.all(
    children.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  )
  return children.filter((_, index) => lines[index]?.includes('gatehouse.js'))
}

/** What of a server is needed to kill it. */
interface Victim {
  readonly pid: number
  readonly dataDir: string
  stop(signal?: NodeJS.Signals): Promise<unknown>
}

/** Ends a server with SIGKILL, its workers too, and if wanted the git processes that they lead. */
export async function killServer(
  server: Victim,
  { withGit = false }: { readonly withGit?: boolean } = {},
): Promise<void> {
  const workers = await workersOf(server.pid)
  const gits = withGit ? await gitProcessesOf(server.dataDir) : []
  killNow(server.pid, ...workers, ...gits.map(({ pid }) => pid))
  await server.stop('SIGKILL')
}

/** Sends SIGKILL to processes, of which some may have ended by themselves just now. */
export function killNow(...pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

/** How many processes listen on a port of 127.0.0.1: those workers that serve already. */
export async function listenersOn(port: number): Promise<number> {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n')
  // proc(5): 0A is a socket that listens.
  return lines.filter((line) => line.includes(`: ${address} 00000000:0000 0A `)).length
}

export interface Memory {
  readonly nowBytes: number
  /** The most since the start of the process, or since `forgetPeak`. */
  readonly peakBytes: number
}

/** The resident memory of a process. */
export async function memoryOf(pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kib = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN)
  return { nowBytes: kib('VmRSS') * 1_024, peakBytes: kib('VmHWM') * 1_024 }
}

/** From now on the peak is counted anew (proc(5), clear_refs). */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

/** The most memory that each of these processes held while something was done. */
export async function peaksDuring(
  pids: readonly number[],
  action: () => Promise<unknown>,
): Promise<readonly number[]> {
  await Promise.all(pids.map(forgetPeak))
  await action()
  return (await Promise.all(pids.map(memoryOf))).map(({ peakBytes }) => peakBytes)
}

/** How many files and sockets a process holds open. */
export async function openFilesOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** Files that a worker opens once and keeps: the database, the folders of a repository. */
const FILES_SLACK = 16

/** How many files each process holds open, when they are back to what they were, or at last. */
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

/** The git processes that work on repositories of that data folder. */
export async function gitProcessesOf(dataDir: string): Promise<readonly GitProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(pids.map((pid) => gitProcessOf(pid, dataDir)))
  return found.filter((each) => each !== undefined)
}

async function gitProcessOf(pid: number, dataDir: string): Promise<GitProcess | undefined> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  if (!/^[^\0]*git/.test(command)) return undefined
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  const isOurs = environment.includes(dataDir) || folder.startsWith(dataDir)
  return isOurs ? { pid, command: command.replaceAll('\0', ' ') } : undefined
}

const LEAVING =
  /^(?:incoming-|tmp_|.*\.lock$|.*\.trash-|.*\.new-)|^[0-9a-f]{24}\.(?:json|updates)|\.keep$|^packed-refs\.new$/

/** What an interrupted push, a killed server or a removal may leave in a data folder. */
export async function listStaleFilesIn(dataDir: string): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { path, name } of walk(dataDir)) if (LEAVING.test(name)) found.push(path)
  return found
}

/** Asks again until the answer is the wanted one, and returns the last answer either way. */
export async function until<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  withinMs: number,
): Promise<T> {
  const deadlineMs = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (isWanted(answer) || Date.now() > deadlineMs) return answer
    await sleep(50)
  }
}
