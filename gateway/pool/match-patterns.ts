/** Matching of users' patterns in a pool, with errors for patterns that exceed its limits. */

import { Failure } from '../../conf/failures.js'
import type { MatchPatterns } from '../../registry/version-patterns.js'
import { type Pool, TaskRefused } from './pool.js'
import type { GatewayTasks } from './tasks.js'

/** Time limit of one call, which matches at most some hundred texts. */
const DEADLINE_MS = 3_000

const RETRY_AFTER_SECONDS = 10

/** Returns a function that matches patterns in the pool. */
export function matchPatternsIn(pool: Pick<Pool<GatewayTasks>, 'run'>): MatchPatterns {
  return async (input, ownerId) => {
    if (input.patterns.length === 0) return input.texts.map(() => -1)
    try {
      return await pool.run('matchPatterns', input, { deadlineMs: DEADLINE_MS, ownerId })
    } catch (error) {
      if (!(error instanceof TaskRefused)) throw error
      if (error.reason === 'busy') {
        const retryAfterSeconds = RETRY_AFTER_SECONDS
        throw new Failure('unavailable', 'Too many patterns are being matched.', {
          retryAfterSeconds,
        })
      }
      const what = error.reason === 'deadline' ? 'time' : 'memory'
      const [first, ...others] = input.patterns
      const named =
        JSON.stringify(first) + (others.length > 0 ? ` and ${others.length} others` : '')
      throw new Failure(
        'invalid',
        `Matching ${named} takes too much ${what}: simplify the pattern.`,
      )
    }
  }
}
