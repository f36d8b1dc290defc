/** The part of a job's log that a page shows. */

import { setImmediate } from 'node:timers/promises'
import { isoOf } from '../../../conf/lib/iso-time.js'
import type { Database } from '../../../sql/database/database.js'
import { type LogRow, readLog } from '../../../sql/runs/task-logs.js'
import { drawLogRow, drawLogRows, type NumberedRow } from '../../rendering/log-rows.js'
import type { TrustedHtml } from '../../rendering/trusted-html.js'
import type { LogSection } from './log-sections.js'

/** Maximum number of rows of a section; the last ones are shown. */
const SECTION_ROWS_MAX = 2_000

/** Maximum number of characters of a log on a page, in its rows and in their HTML. */
const PAGE_CHARACTERS_MAX = 4_194_304

/** Characters of HTML around the content of a row. */
const FRAME_CHARACTERS = 140

/** Characters that are rendered in one tick of the event loop: some milliseconds of work. */
const TICK_CHARACTERS = 131_072

/** Number of rows that are read together. */
const READ_ROWS = 500

export interface ShownLog {
  readonly html: TrustedHtml
  /** Number of rows that the page does not show. */
  readonly omittedRows: number
}

/**
 * Reads and renders the log of a task from its end until the page is full. Returns an entry for
 * each section.
 */
export async function readShownLog(
  db: Database,
  taskId: number,
  sections: readonly LogSection[],
): Promise<readonly ShownLog[]> {
  const rowAt = rowReader(db, taskId)
  const logs: ShownLog[] = []
  let charactersLeft = PAGE_CHARACTERS_MAX
  let tickEnd = charactersLeft - TICK_CHARACTERS
  for (const [step, { firstRow, endRow }] of [...sections.entries()].reverse()) {
    const rows: NumberedRow[] = []
    const leastRow = Math.max(firstRow, endRow - SECTION_ROWS_MAX)
    for (let index = endRow - 1; index >= leastRow && charactersLeft > 0; index -= 1) {
      const row = await rowAt(index)
      if (row === undefined) break
      const drawn = drawLogRow(row.text)
      const characters = Math.max(row.text.length, drawn.html.length) + FRAME_CHARACTERS
      charactersLeft -= characters
      if (charactersLeft < tickEnd) {
        await setImmediate()
        tickEnd = charactersLeft - TICK_CHARACTERS
      }
      rows.push({ ...drawn, number: index - firstRow + 1, time: isoOf(row.atMs) })
    }
    const omittedRows = endRow - firstRow - rows.length
    logs.push({ html: drawLogRows(step, rows.reverse()), omittedRows })
  }
  return logs.reverse()
}

/** Returns a function that returns rows by index, for calls with descending indexes. */
function rowReader(db: Database, taskId: number): (index: number) => Promise<LogRow | undefined> {
  let firstRow = 0
  let rows: readonly LogRow[] = []
  return async (index) => {
    if (index < firstRow || index >= firstRow + rows.length) {
      firstRow = Math.max(0, index + 1 - READ_ROWS)
      rows = await readLog(db, { taskId, firstRow, rowsMax: index + 1 - firstRow })
    }
    return rows[index - firstRow]
  }
}
