/** Masks of the logs of tasks: the server removes the secrets that a runner has left in a row. */

import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { findJob } from '../../sql/runs/run-jobs.js'
import { findRunById } from '../../sql/runs/runs.js'
import type { Task } from '../../sql/runs/tasks.js'
import { runtimeTokenOf } from '../auth/runtime-token.js'
import { maskJobTokens } from '../auth/token.js'
import type { Context } from '../request/context.js'
import { Masker } from '../runner-protocol/masker.js'
import { secretsOfRun } from './run-secrets.js'

/** Maximum length of a stored row. */
export const ROW_CHARACTERS_MAX = 65_536

/** Length that is searched: a secret in base64 may begin at the end of the stored part. */
const SEARCHED_CHARACTERS_MAX = 3 * ROW_CHARACTERS_MAX

/** Time after which other requests are handled before the next row. */
const SLICE_MS = 5

/** Maximum number of cached maskers of a worker, and of the characters of their texts. */
const TASKS_MAX = 1_000
const CHARACTERS_MAX = 33_554_432

type MaskedTask = Pick<Task, 'id' | 'jobId' | 'claimedAtMs'>

/** Returns the rows of a task's log without its secrets and without tokens of jobs. */
export async function maskRows(
  context: Context,
  task: MaskedTask,
  rows: readonly string[],
): Promise<readonly string[]> {
  const masker = await maskerOf(context, task)
  const masked: string[] = []
  let sliceEndMs = performance.now() + SLICE_MS
  for (const row of rows) {
    const searched = row.slice(0, SEARCHED_CHARACTERS_MAX)
    masked.push(maskJobTokens(masker.mask(searched, ROW_CHARACTERS_MAX)))
    if (performance.now() < sliceEndMs) continue
    await setImmediate()
    sliceEndMs = performance.now() + SLICE_MS
  }
  return masked
}

const maskers = new WeakMap<Context, LRUCache<number, Masker>>()

/** Returns the masker of a task. Its secrets are opened once per worker, while it is cached. */
async function maskerOf(context: Context, task: MaskedTask): Promise<Masker> {
  let cache = maskers.get(context)
  if (cache === undefined) {
    cache = new LRUCache({
      max: TASKS_MAX,
      maxSize: CHARACTERS_MAX,
      sizeCalculation: ({ characters }) => characters + 1,
    })
    maskers.set(context, cache)
  }
  const known = cache.get(task.id)
  if (known !== undefined) return known
  const masker = new Masker(await secretsOfTask(context, task))
  cache.set(task.id, masker)
  return masker
}

async function secretsOfTask(
  context: Context,
  { id, jobId, claimedAtMs }: MaskedTask,
): Promise<Iterable<string>> {
  const job = await findJob(context.db, jobId)
  const run = job && (await findRunById(context.db, job.runId))
  const repository = run && (await findRepositoryById(context.db, run.repositoryId))
  if (run === undefined || repository === undefined) return []
  const subject = { taskId: id, jobId, runId: run.id, claimedAtMs }
  const secret = await openInstanceSecret(context.settings.data.dir)
  const secrets = await secretsOfRun(context, { run, repository })
  return [...secrets.values(), runtimeTokenOf(secret, subject)]
}
