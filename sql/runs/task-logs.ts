/**
 * Logs of tasks, stored in parts. A part is inserted in the transaction that counts its rows, so an
 * acknowledged row is durable.
 */

import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Database, transaction } from '../database/database.js'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** A row of a log. */
export interface LogRow {
  /** Time of the runner's clock. */
  readonly atMs: number
  readonly text: string
}

export interface LogAppend {
  readonly taskId: number
  /** Index of the first of the rows within the log. */
  readonly firstRow: number
  readonly rows: readonly LogRow[]
  /** True if these are the last rows. */
  readonly isLast: boolean
}

/** Limits of a log. */
export interface LogLimits {
  readonly rowsMax: number
  readonly bytesMax: number
}

/** State of a log after a call. */
export interface LogState {
  /** Number of rows up to which the log is acknowledged. */
  readonly rows: number
  /** True if the log was closed and there were further rows, which are not stored. */
  readonly isRefused: boolean
}

/**
 * Appends the rows that are not stored yet to the logs of different tasks, in one transaction; rows
 * after a gap are ignored. Rows beyond the limits are counted but not stored, and one row in their
 * place says so. Returns the states of the logs by the ids of their tasks, without those of tasks
 * that do not exist.
 */
export async function appendLogs(
  db: Database,
  appends: readonly LogAppend[],
  limits: LogLimits,
): Promise<ReadonlyMap<number, LogState>> {
  const known = await logsOf(db, appends)
  const states = new Map<number, LogState>()
  const changes: Change[] = []
  for (const append of appends) {
    const log = known.get(append.taskId)
    if (log === undefined) continue
    const fresh = freshRows(append, log)
    const isEnd = append.isLast && append.firstRow <= log.log_rows
    if (log.is_log_closed === 1 || (fresh.length === 0 && !isEnd)) {
      states.set(log.task_id, { rows: log.log_rows, isRefused: fresh.length > 0 })
      continue
    }
    // The rows are compressed before the transaction, which holds the lock of SQLite's only writer.
    changes.push({ append, knownRows: log.log_rows, ...(await grow(log, fresh, isEnd, limits)) })
  }
  const stored = changes.length === 0 ? new Set() : await store(db, changes)
  for (const { log } of changes.filter((change) => stored.has(change))) {
    states.set(log.task_id, { rows: log.log_rows, isRefused: false })
  }
  // Another process has appended rows to these logs meanwhile.
  const left = changes.filter((change) => !stored.has(change)).map(({ append }) => append)
  if (left.length > 0) {
    for (const [id, state] of await appendLogs(db, left, limits)) states.set(id, state)
  }
  return states
}

/** Change of a log. */
interface Change {
  readonly append: LogAppend
  /** Number of rows of the log as it was read. */
  readonly knownRows: number
  /** The log after the change. */
  readonly log: LogOfTask
  readonly parts: readonly Part[]
}

/** Returns the rows that a log does not have yet; none after a gap. */
function freshRows({ firstRow, rows }: LogAppend, { log_rows: known }: LogOfTask) {
  return firstRow > known ? [] : rows.slice(known - firstRow)
}

/** Returns a log with further rows, and the parts to store. */
async function grow(
  log: LogOfTask,
  rows: readonly LogRow[],
  isEnd: boolean,
  limits: LogLimits,
): Promise<Pick<Change, 'log' | 'parts'>> {
  const { kept, isCut } = withinLimits(rows, log, limits)
  const parts = await partsOf(log.log_rows, kept)
  const bytes = parts.reduce((sum, part) => sum + part.bytes, log.log_bytes)
  const grown = {
    task_id: log.task_id,
    log_rows: log.log_rows + rows.length,
    // No row follows the one that says where the log is cut.
    log_bytes: isCut ? Math.max(bytes, limits.bytesMax) : bytes,
    is_log_closed: isEnd ? 1 : 0,
  }
  return { log: grown, parts }
}

/** Stores the changes of logs that are as they were read, and returns these. */
async function store(db: Database, changes: readonly Change[]): Promise<ReadonlySet<Change>> {
  return await transaction(db, async (trx) => {
    const ids = changes.map(({ log }) => log.task_id)
    const locked: readonly LogOfTask[] = await trx('workflow_logs')
      .whereIn('task_id', ids)
      .orderBy('task_id')
      .forUpdate()
      .select(COLUMNS)
    const now = new Map(locked.map((log) => [log.task_id, log]))
    const valid = changes.filter(({ log, knownRows }) => {
      const { log_rows: rows, is_log_closed: isClosed } = now.get(log.task_id) ?? {}
      return rows === knownRows && isClosed === 0
    })
    if (valid.length === 0) return new Set()
    await trx('workflow_logs')
      .insert(valid.map(({ log }) => log))
      .onConflict('task_id')
      .merge()
    const parts = valid.flatMap(({ log, parts }) => parts.map((part) => rowOf(log.task_id, part)))
    for (const some of inserts(parts)) await trx('workflow_log_parts').insert(some)
    return new Set(valid)
  })
}

/** Maximum size of the contents of one insert: MySQL limits a statement, in which they double. */
const INSERT_BYTES_MAX = 4_194_304

/** Splits rows into those of one insert each. */
function inserts(parts: ReadonlyArray<ReturnType<typeof rowOf>>) {
  const all: Array<Array<ReturnType<typeof rowOf>>> = []
  let bytes = Number.POSITIVE_INFINITY
  for (const part of parts) {
    bytes += part.content.length
    if (bytes > INSERT_BYTES_MAX) {
      all.push([])
      bytes = part.content.length
    }
    all.at(-1)?.push(part)
  }
  return all
}

function rowOf(taskId: number, { firstRow, rowCount, content }: Part) {
  return { task_id: taskId, first_row: firstRow, row_count: rowCount, content }
}

/** Maximum number of rows of a part. Readers of one row read its whole part. */
const PART_ROWS_MAX = 1_000

/** Number of characters at which a part ends. */
const PART_CHARACTERS = 262_144

interface Part {
  readonly firstRow: number
  readonly rowCount: number
  /** Rows as JSON, compressed. */
  readonly content: Buffer
  /** Length of the JSON. */
  readonly bytes: number
}

async function partsOf(firstRow: number, rows: readonly LogRow[]): Promise<readonly Part[]> {
  const parts: Part[] = []
  let start = 0
  let characters = 0
  for (const [at, { text }] of rows.entries()) {
    const end = at + 1
    characters += text.length
    const isFull = characters >= PART_CHARACTERS || end - start === PART_ROWS_MAX
    if (!isFull && end < rows.length) continue
    const json = JSON.stringify(rows.slice(start, end))
    const content = await compress(json)
    const bytes = Buffer.byteLength(json)
    parts.push({ firstRow: firstRow + start, rowCount: end - start, content, bytes })
    start = end
    characters = 0
  }
  return parts
}

interface LogOfTask {
  readonly task_id: number
  readonly log_rows: number
  readonly log_bytes: number
  readonly is_log_closed: number
}

const COLUMNS = ['task_id', 'log_rows', 'log_bytes', 'is_log_closed'] as const

/** Returns the logs by the ids of their tasks. */
async function logsOf(
  db: Database,
  appends: readonly LogAppend[],
): Promise<ReadonlyMap<number, LogOfTask>> {
  const ids = appends.map(({ taskId }) => taskId)
  const logs: readonly LogOfTask[] = await db('workflow_logs')
    .whereIn('task_id', ids)
    .select(COLUMNS)
  return new Map(logs.map((log) => [log.task_id, log]))
}

interface Kept {
  readonly kept: readonly LogRow[]
  /** True if the log has reached a limit. */
  readonly isCut: boolean
}

/** Returns the rows to store. The rows that reach a limit end with one that says so. */
function withinLimits(
  rows: readonly LogRow[],
  { log_rows: known, log_bytes: bytes }: LogOfTask,
  { rowsMax, bytesMax }: LogLimits,
): Kept {
  if (known >= rowsMax || bytes >= bytesMax) return { kept: [], isCut: true }
  const kept = rows.slice(0, rowsMax - known)
  const keptBytes = kept.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const last = kept.at(-1)
  if (last === undefined) return { kept, isCut: false }
  if (known + rows.length < rowsMax && bytes + keptBytes < bytesMax) {
    return { kept, isCut: false }
  }
  const text = `The log is cut here: it has more than ${rowsMax} lines or ${bytesMax} bytes.`
  return { kept: [...kept.slice(0, -1), { atMs: last.atMs, text }], isCut: true }
}

export interface LogRange {
  readonly taskId: number
  readonly firstRow: number
  readonly rowsMax: number
}

/** Returns the stored rows of a range. */
export async function readLog(
  db: Database,
  { taskId, firstRow, rowsMax }: LogRange,
): Promise<readonly LogRow[]> {
  const endRow = firstRow + rowsMax
  const parts: readonly PartRow[] = await db('workflow_log_parts')
    .where({ task_id: taskId })
    .where('first_row', '<', endRow)
    .whereRaw('first_row + row_count > ?', [firstRow])
    .orderBy('first_row')
    .select('first_row', 'content')
  const rows: LogRow[] = []
  for (const { first_row, content } of parts) {
    const all: readonly LogRow[] = JSON.parse((await decompress(content)).toString())
    rows.push(...all.slice(Math.max(0, firstRow - first_row), endRow - first_row))
  }
  return rows
}

/** Returns the number of stored rows, which are the first ones of the log. */
export async function countLogRows(db: Database, taskId: number): Promise<number> {
  const last: { first_row: number; row_count: number } | undefined = await db('workflow_log_parts')
    .where({ task_id: taskId })
    .orderBy('first_row', 'desc')
    .first('first_row', 'row_count')
  return last === undefined ? 0 : last.first_row + last.row_count
}

interface PartRow {
  readonly first_row: number
  readonly content: Buffer
}
