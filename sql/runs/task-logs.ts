/**
 * Logs of tasks, stored in parts. A part is inserted in the transaction that counts its rows, so an
 * acknowledged row is durable.
 */

import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

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
 * Appends the rows that are not stored yet; rows after a gap are ignored. Rows beyond the limits
 * are counted but not stored, and one row in their place says so. Returns undefined if the task
 * does not exist.
 */
export async function appendLog(
  db: Database,
  append: LogAppend,
  limits: LogLimits,
): Promise<LogState | undefined> {
  const state = await logStateOf(db, append.taskId)
  if (state === undefined) return undefined
  const { log_rows: known, log_bytes: bytes } = state
  const isGap = append.firstRow > known
  const fresh = isGap ? [] : append.rows.slice(known - append.firstRow)
  if (state.is_log_closed === 1) return { rows: known, isRefused: fresh.length > 0 }
  const isClosed = append.isLast && !isGap
  if (fresh.length === 0 && !isClosed) return { rows: known, isRefused: false }
  const { kept, isCut } = withinLimits(fresh, state, limits)
  // The rows are compressed before the transaction, which holds the lock of SQLite's only writer.
  const parts = await partsOf(known, kept)
  const rows = known + fresh.length
  const bytesAfter = parts.reduce((sum, part) => sum + part.bytes, bytes)
  const isStored = await transaction(db, async (trx) => {
    const changed = await trx('workflow_tasks')
      .where({ id: append.taskId, log_rows: known, is_log_closed: false })
      .update({
        log_rows: rows,
        // No row follows the one that says where the log is cut.
        log_bytes: isCut ? Math.max(bytesAfter, limits.bytesMax) : bytesAfter,
        is_log_closed: isClosed,
        heard_at: Date.now(),
      })
    if (changed === 0) return false
    for (const { firstRow, rowCount, content } of parts) {
      await trx('workflow_log_parts').insert({
        task_id: append.taskId,
        first_row: firstRow,
        row_count: rowCount,
        content,
      })
    }
    return true
  })
  // Another request has appended rows meanwhile.
  return isStored ? { rows, isRefused: false } : await appendLog(db, append, limits)
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

interface StateRow {
  readonly log_rows: number
  readonly log_bytes: number
  readonly is_log_closed: number
}

async function logStateOf(db: Database, taskId: number): Promise<StateRow | undefined> {
  const [row] = await selectRows<StateRow>(
    db,
    'select t.log_rows, t.log_bytes, t.is_log_closed from workflow_tasks t where t.id = ?',
    [taskId],
  )
  return row
}

interface Kept {
  readonly kept: readonly LogRow[]
  /** True if the log has reached a limit. */
  readonly isCut: boolean
}

/** Returns the rows to store. The rows that reach a limit end with one that says so. */
function withinLimits(
  rows: readonly LogRow[],
  { log_rows: known, log_bytes: bytes }: StateRow,
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
