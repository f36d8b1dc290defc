/** Management of the runners of a scope: their states, and tokens with which more register. */

import { notFound } from '../../../conf/failures.js'
import type { Database } from '../../../sql/database/database.js'
import type { Page, Paged } from '../../../sql/database/page.js'
import {
  createRegistrationToken,
  findRunnerOf,
  listRunnersOf,
  type Runner,
} from '../../../sql/runners/runners.js'
import type { RunnerScope } from '../../../sql/runs/run-jobs.js'
import { busyRunners } from '../../../sql/runs/tasks.js'
import { readId } from '../../auth/refusals.js'
import { hashToken, newToken } from '../../auth/token.js'

/** A runner polls at least each minute that it is idle, and polls are recorded each minute. */
const ONLINE_MS = 150_000

/** A runner, and what it does now. */
export interface SeenRunner extends Runner {
  /** True if the runner works on a task. */
  readonly isBusy: boolean
  /** True if the runner is busy or has asked for a job recently. */
  readonly isOnline: boolean
}

/** Returns the runners of a scope, without those of wider scopes. */
export async function listSeenRunners(
  db: Database,
  scope: RunnerScope,
  page: Page,
): Promise<Paged<SeenRunner>> {
  const { entries, total } = await listRunnersOf(db, scope, page)
  return { entries: await seen(db, entries), total }
}

/** Returns the runner of a scope whose id is the text. Throws `not_found`. */
export async function namedRunner(
  db: Database,
  scope: RunnerScope,
  text: string,
): Promise<SeenRunner> {
  const found = await findRunnerOf(db, scope, readId(text) ?? 0)
  const [runner] = await seen(db, found === undefined ? [] : [found])
  if (runner === undefined) throw notFound()
  return runner
}

async function seen(db: Database, runners: readonly Runner[]): Promise<readonly SeenRunner[]> {
  const busy = await busyRunners(
    db,
    runners.map(({ id }) => id),
  )
  const onlineSinceMs = Date.now() - ONLINE_MS
  return runners.map((runner) => {
    const isBusy = busy.has(runner.id)
    const isOnline = isBusy || (runner.lastSeenAtMs ?? 0) >= onlineSinceMs
    return { ...runner, isBusy, isOnline }
  })
}

/** Creates a registration token, which replaces the earlier one of the scope, and returns it. */
export async function issueRegistrationToken(db: Database, scope: RunnerScope): Promise<string> {
  const plain = newToken()
  const { ownerId, repositoryId } = scope
  await createRegistrationToken(db, {
    hash: hashToken(plain),
    ownerId,
    repositoryId,
    isOnce: false,
    expiresAtMs: undefined,
  })
  return plain
}
