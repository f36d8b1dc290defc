/** Summaries of steps from runners of Forgejo and Gatehouse. */

import { Failure } from '../../conf/failures.js'
import { UPDATE_STEP_SUMMARY } from '../runner-protocol/procedures.js'
import { storeStepSummary, TASK_SUMMARIES_BYTES_MAX } from '../runs/step-summaries.js'
import { procedureRoute } from './procedure-route.js'
import { ownTask } from './update-task.js'

/** Maximum size of a message, which may have all summaries of a job. */
const MESSAGE_BYTES_MAX = TASK_SUMMARIES_BYTES_MAX + 65_536
const SUMMARIES_PER_MESSAGE_MAX = 1_000

export const UPDATE_STEP_SUMMARY_ROUTE = procedureRoute(UPDATE_STEP_SUMMARY, {
  access: 'runner',
  bytesMax: MESSAGE_BYTES_MAX,
  async handle(context, { message, grant: { runner } }) {
    const task = await ownTask(context, runner, message.taskId)
    if (task.stoppedAtMs !== undefined) throw new Failure('conflict', 'The task has ended.')
    if (message.summaries.length > SUMMARIES_PER_MESSAGE_MAX) {
      const limit = `A message has at most ${SUMMARIES_PER_MESSAGE_MAX} summaries.`
      throw new Failure('payload_too_large', limit)
    }
    for (const { stepNumber, content } of message.summaries) {
      await storeStepSummary(context, task, { step: Number(stepNumber), content })
    }
    return {}
  },
})
