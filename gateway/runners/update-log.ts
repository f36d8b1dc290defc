/** Logs of tasks: rows are acknowledged after they are stored, without secrets. */

import { timestampMs } from '@bufbuild/protobuf/wkt'
import { Failure } from '../../conf/failures.js'
import { appendLogs } from '../../sql/runs/task-logs.js'
import type { Context } from '../request/context.js'
import type { LogRow } from '../runner-protocol/messages.js'
import { UPDATE_LOG } from '../runner-protocol/procedures.js'
import { maskRows, ROW_CHARACTERS_MAX } from '../runs/task-masks.js'
import { LogWriter } from './log-writer.js'
import { procedureRoute } from './procedure-route.js'
import { noteHeard, ownTask } from './update-task.js'

const MESSAGE_BYTES_MAX = 8_388_608
const ROWS_PER_MESSAGE_MAX = 20_000

/** Limits of the log of one task. */
const LIMITS = { rowsMax: 500_000, bytesMax: 67_108_864 }

export const UPDATE_LOG_ROUTE = procedureRoute(UPDATE_LOG, {
  access: 'runner',
  bytesMax: MESSAGE_BYTES_MAX,
  async handle(context, { message, grant: { runner } }) {
    const task = await ownTask(context, runner, message.taskId)
    if (message.rows.length > ROWS_PER_MESSAGE_MAX) {
      throw new Failure('payload_too_large', `A message has at most ${ROWS_PER_MESSAGE_MAX} rows.`)
    }
    const texts = message.rows.map(({ content }) => content)
    const masked = await maskRows(context, task, texts)
    const append = {
      taskId: task.id,
      firstRow: Math.max(0, Number(message.index)),
      rows: message.rows.map((row, at) => rowOf(row, masked[at] ?? '')),
      isLast: message.noMore,
    }
    const [state] = await Promise.all([
      writerOf(context).append(append),
      noteHeard(context.db, task),
    ])
    if (state === undefined) throw new Failure('not_found', `Task ${task.id} was deleted.`)
    if (state.isRefused)
      throw new Failure('conflict', 'The log has ended: further rows are refused.')
    return { ackIndex: BigInt(state.rows) }
  },
})

const writers = new WeakMap<Context, LogWriter>()

/** Returns the writer of a worker. */
function writerOf(context: Context): LogWriter {
  let writer = writers.get(context)
  if (writer === undefined) {
    writer = new LogWriter((appends) => appendLogs(context.db, appends, LIMITS))
    writers.set(context, writer)
  }
  return writer
}

function rowOf({ time }: LogRow, masked: string) {
  return {
    atMs: time === undefined ? Date.now() : timestampMs(time),
    text: masked.slice(0, ROW_CHARACTERS_MAX).replace(/[\r\n]+/g, ' '),
  }
}
