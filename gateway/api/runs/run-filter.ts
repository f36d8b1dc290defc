/** Query parameters that filter lists of runs and jobs. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { RunFilter } from '../../../sql/runs/runs.js'
import type { RunStatus } from '../../../sql/runs/statuses.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import type { Context } from '../../request/context.js'

const STATUS = Type.Optional(
  Type.String({ description: 'waiting, queued, in_progress, completed or a conclusion' }),
)

export const JOB_FILTER_QUERY = { status: STATUS }

export const RUN_FILTER_QUERY = {
  event: Type.Optional(Type.String({ description: 'name of the event' })),
  branch: Type.Optional(Type.String({ description: 'name of the branch' })),
  status: STATUS,
  actor: Type.Optional(Type.String({ description: 'user who caused the event' })),
  head_sha: Type.Optional(Type.String({ description: 'full id of the commit' })),
}

type RunQuery = { readonly [K in keyof typeof RUN_FILTER_QUERY]?: string }

/** Returns the parameters of the filter, which links to other pages repeat. */
export function filterFields({ event, branch, status, actor, head_sha }: RunQuery) {
  return { event, branch, status, actor, head_sha }
}

/** Reads the filter. Throws `bad_request` for an unknown status, and `not_found` for the actor. */
export async function runFilterOf(
  { db }: Context,
  { event, branch, status, actor, head_sha }: RunQuery,
  viewer: User | undefined,
): Promise<RunFilter> {
  const actorId = actor && (await findVisibleUser(db, actor, viewer)).id
  return {
    event: event || undefined,
    reference: branch ? `refs/heads/${branch}` : undefined,
    statuses: status ? statusesOf(status) : undefined,
    actorId: actorId || undefined,
    commitId: head_sha || undefined,
  }
}

/** Returns the statuses that a word of a filter means. Throws `bad_request`. */
export function statusesOf(word: string): readonly RunStatus[] {
  const statuses = STATUSES.get(word)
  if (statuses === undefined) throw new Failure('bad_request', `Invalid status: ${word}`)
  return statuses
}

/** Statuses by the words of this API; the words of GitHub that have no status match nothing. */
const STATUSES: ReadonlyMap<string, readonly RunStatus[]> = new Map([
  ['waiting', ['blocked']],
  ['pending', ['blocked']],
  ['requested', ['blocked']],
  ['action_required', ['blocked']],
  ['queued', ['waiting']],
  ['in_progress', ['running', 'cancelling']],
  ['completed', ['success', 'failure', 'cancelled', 'skipped']],
  ['success', ['success']],
  ['failure', ['failure']],
  ['cancelled', ['cancelled']],
  ['timed_out', ['cancelled']],
  ['skipped', ['skipped']],
  ['neutral', ['skipped']],
])
