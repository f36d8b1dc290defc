/** Upkeep of the repositories in the background: which jobs there are, and what calls for them. */

import { enqueueJob } from '../../sql/jobs.js'
import type { JobContext, JobKind } from './job.js'
import { MAINTAIN_REPOSITORY } from './maintain-repository.js'
import { createJobRunner } from './runner.js'
import { SWEEP_PACKAGES } from './sweep-packages.js'
import { SWEEP_REPOSITORIES } from './sweep-repositories.js'

export interface Upkeep {
  /** To be told of each push that ended well. Never throws: a push does not fail by it. */
  pushWasTaken(repositoryId: number): Promise<void>
  /** From now on jobs are done in this process. */
  start(): void
  /** Ends the job that runs, and gives it back. */
  stop(): Promise<void>
}

const KINDS: readonly JobKind[] = [MAINTAIN_REPOSITORY, SWEEP_PACKAGES, SWEEP_REPOSITORIES]

/** The upkeep of one gateway process; where the settings say so, there is none. */
export function createUpkeep(context: JobContext): Upkeep {
  const { isEnabled, delayMs } = context.settings.maintenance
  if (!isEnabled) return { async pushWasTaken() {}, start() {}, async stop() {} }
  const runner = createJobRunner(context, { kinds: KINDS })
  return {
    async pushWasTaken(repositoryId) {
      const wish = { kind: MAINTAIN_REPOSITORY.kind, subject: String(repositoryId), delayMs }
      try {
        await enqueueJob(context.db, wish)
        runner.lookIn(delayMs)
      } catch (error) {
        context.log.warn({ error, repository: repositoryId }, 'no upkeep will follow a push')
      }
    },
    start: runner.start,
    stop: runner.stop,
  }
}
