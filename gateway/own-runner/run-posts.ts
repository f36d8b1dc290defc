/** Runs the `post` scripts of actions at the end of a job. */

import { evaluateCondition } from '../workflows/expressions.js'
import { faultSentence } from './job-fault.js'
import type { StepScope } from './step-scope.js'
import { startLimit } from './time-limit.js'

/**
 * Runs the scripts of all actions that have started, the last one first. They run after failures
 * too, and after a cancellation within its grace. A failure is one of the job.
 */
export async function runPosts(scope: StepScope): Promise<void> {
  const { posts, input } = scope.job
  for (const { title, condition, run } of posts.toReversed()) {
    const signal = input.cancellation.signalOfStep()
    let hasSucceeded = false
    try {
      if (!evaluateCondition(condition, scope.contexts(), scope.outcome)) continue
      input.log.add(`Post ${title}`)
      const end = await run({ signal, limit: startLimit(undefined, undefined) })
      hasSucceeded = end.hasSucceeded
    } catch (error) {
      input.log.add(faultSentence(error))
    }
    if (!hasSucceeded) scope.hasFailed = true
  }
}
