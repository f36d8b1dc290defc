/** The processes of this machine, read from /proc; empty on a system without it. */

import { readFileSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { launcherPid } from './launcher.js'

/** Row of the process table. */
export interface ProcessRow {
  readonly pid: number
  readonly groupId: number
  readonly startedAtMs: number
  /** Working folder; empty if this process may not read it. */
  readonly folder: string
  readonly command: string
}

/** Identity of a process, which differs from that of a later process with the same id. */
export interface ProcessMark {
  readonly pid: number
  /** Boot id and start time in kernel ticks; absent without /proc. */
  readonly identity?: string
}

/** Returns the identity of a running process. */
export function markProcess(pid: number): ProcessMark {
  const identity = readIdentity(pid)
  return identity === undefined ? { pid } : { pid, identity }
}

/** Returns true if the process still runs. A zombie does not. */
export function isRunning({ pid, identity }: ProcessMark): boolean {
  if (identity !== undefined) return identity === readIdentity(pid)
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Lists the running processes, without zombies. */
export async function listProcesses(): Promise<readonly ProcessRow[]> {
  const bootedAtMs = await readBootTime()
  const rows = await forEachPid(await listPids(), (pid) => readRow(pid, bootedAtMs))
  return rows.filter((row) => row !== undefined)
}

/** Returns true if the group has a running process, zombies excluded; undefined without /proc. */
export async function hasRunningMember(groupId: number): Promise<boolean | undefined> {
  return (await listRunningGroups())?.has(groupId)
}

type Groups = Promise<ReadonlySet<number> | undefined>

/** The current scan, and the next one, for callers that arrived after the current one began. */
let scan: Groups | undefined
let nextScan: Groups | undefined

/** Returns the groups with a running process, from a shared scan that began after the call. */
function listRunningGroups(): Groups {
  if (nextScan !== undefined) return nextScan
  if (scan !== undefined) {
    nextScan = scan.then(beginScan)
    return nextScan
  }
  return beginScan()
}

function beginScan(): Groups {
  nextScan = undefined
  const begun = scanGroups().finally(() => {
    if (scan === begun) scan = undefined
  })
  scan = begun
  return begun
}

async function scanGroups(): Groups {
  const pids = await listPids()
  if (pids.length === 0) return undefined
  const stats = await forEachPid(pids, readStat)
  return new Set(stats.flatMap((stat) => stat?.groupId ?? []))
}

/**
 * Returns the CPU time of the child processes of this process that have ended, including their own
 * children that they waited for (proc(5), cutime and cstime), and of the launcher and its children.
 * Zero without /proc.
 */
export async function childrenCpuSeconds(): Promise<number> {
  const own = await readStat(process.pid)
  const pid = launcherPid()
  // The time of a launcher that has ended is in that of this process.
  const launcher = pid === undefined ? undefined : await readStat(pid)
  const ticks =
    (own?.childrenTicks ?? 0) + (launcher?.ownTicks ?? 0) + (launcher?.childrenTicks ?? 0)
  return ticks / TICKS_PER_SECOND
}

async function listPids(): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => [])
  return names.filter((name) => /^\d+$/.test(name)).map(Number)
}

/** Maximum number of files of /proc that one scan opens at a time. */
const OPEN_MAX = 16

async function forEachPid<T>(
  pids: readonly number[],
  read: (pid: number) => Promise<T>,
): Promise<readonly T[]> {
  const results: T[] = []
  const rest = pids.values()
  const readOn = async () => {
    for (const pid of rest) results.push(await read(pid))
  }
  await Promise.all(Array.from({ length: OPEN_MAX }, readOn))
  return results
}

/** Reads synchronously: a file of /proc never waits for a disk, and each push reads two. */
function readIdentity(pid: number): string | undefined {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
    return stat === undefined ? undefined : `${bootId.trim()}/${stat.startTick}`
  } catch {
    return undefined
  }
}

async function readRow(pid: number, bootedAtMs: number): Promise<ProcessRow | undefined> {
  const stat = await readStat(pid)
  if (stat === undefined) return undefined
  const startedAtMs = bootedAtMs + (stat.startTick * 1_000) / TICKS_PER_SECOND
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '')
  const command = (await readText(`/proc/${pid}/cmdline`)).replaceAll('\0', ' ')
  return { pid, groupId: stat.groupId, startedAtMs, folder, command }
}

/** Kernel ticks per second in /proc (USER_HZ), on every architecture that Node supports. */
const TICKS_PER_SECOND = 100

async function readStat(pid: number) {
  return parseStat(await readText(`/proc/${pid}/stat`))
}

function parseStat(text: string) {
  // proc(5): the command name, in parentheses, may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (text === '' || fields[0] === 'Z') return undefined
  return {
    groupId: Number(fields[2]),
    ownTicks: Number(fields[11]) + Number(fields[12]),
    childrenTicks: Number(fields[13]) + Number(fields[14]),
    startTick: Number(fields[19]),
  }
}

async function readBootTime(): Promise<number> {
  const match = /^btime (\d+)$/m.exec(await readText('/proc/stat'))
  return Number(match?.[1] ?? 0) * 1_000
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
