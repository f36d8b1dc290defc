/** The whole log of a job as a text, which is read while it is sent. */

import { notFound } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import { isoOf } from '../../conf/lib/iso-time.js'
import type { Database } from '../../sql/database/database.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import type { Run } from '../../sql/runs/runs.js'
import { readLog } from '../../sql/runs/task-logs.js'
import type { Context } from '../request/context.js'

/** Number of rows that are read together. */
const READ_ROWS = 500

/** Returns the log as a file. Throws `not_found` if no runner has claimed the job. */
export function wholeLogReply(
  { db }: Pick<Context, 'db'>,
  { number }: Pick<Run, 'number'>,
  { taskId, position }: Pick<RunJob, 'taskId' | 'position'>,
): Reply {
  if (taskId === undefined) throw notFound()
  return {
    status: 200,
    headers: [
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['Content-Disposition', `attachment; filename="run-${number}-job-${position}.log"`],
      ['X-Content-Type-Options', 'nosniff'],
      ['Cache-Control', 'private, no-cache'],
      ['Vary', 'Cookie'],
    ],
    body: linesOf(db, taskId),
  }
}

/** Yields the rows of a log as lines with their times. */
async function* linesOf(db: Database, taskId: number): AsyncGenerator<Uint8Array> {
  for (let firstRow = 0; ; firstRow += READ_ROWS) {
    const rows = await readLog(db, { taskId, firstRow, rowsMax: READ_ROWS })
    if (rows.length === 0) return
    yield Buffer.from(rows.map(({ atMs, text }) => `${isoOf(atMs)} ${text}\n`).join(''))
  }
}
