/** Merges that were scheduled until the checks of a pull request have succeeded. */

import type { MergeStyle } from '../../../cgi/objects/merge.js'
import { REFERENCE_HELD, REFERENCE_MOVED } from '../../../cgi/refs/references.js'
import { Failure } from '../../../conf/failures.js'
import { findUserById, type User } from '../../../sql/accounts/users.js'
import { findPullById } from '../../../sql/pulls/pull-lists.js'
import {
  cancelScheduledMerge,
  findScheduledMerge,
  type ScheduledMerge,
} from '../../../sql/pulls/scheduled-merges.js'
import { authorize, type Grants } from '../../auth/authorize.js'
import { clientOf } from '../../auth/client.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { haveChecksSucceeded } from '../code/commit-checks.js'
import { mergeNow } from './merge-now.js'
import { type PullState, refreshPulls } from './refresh-pulls.js'

/**
 * Merges a scheduled pull request if its checks have succeeded. The merge is cancelled if the head
 * has moved, the pull request is closed, or the user who scheduled it is no longer permitted to
 * merge. After any other obstacle it stays scheduled. Throws if a retry may succeed soon.
 */
export async function mergeScheduled(context: Context, pullId: number): Promise<void> {
  const { db, log } = context
  const scheduled = await findScheduledMerge(db, pullId)
  if (scheduled === undefined) return
  const doer = await findUserById(db, scheduled.doerId)
  const found = await findPullById(db, pullId)
  if (doer === undefined || found === undefined) return
  const place = { repositoryId: found.pull.repositoryId, commitId: scheduled.headCommit }
  if (!(await haveChecksSucceeded(context, place))) return
  // Authorized last, because permissions can be revoked while the merge waits.
  const grant = await authorizeAgain(context, doer, found.pull.repositoryId)
  const state = grant && (await refreshPulls(context, grant.repository, [found]))[0]
  if (grant === undefined || state === undefined || !isAsWanted(state, scheduled)) {
    await cancelScheduledMerge(db, pullId)
    return log.info({ pull: pullId }, 'a scheduled merge was cancelled')
  }
  try {
    await merge(context, grant, { state, doer, scheduled })
    log.info({ pull: pullId }, 'a pull request was merged after its checks')
  } catch (error) {
    if (!(error instanceof Failure) || isTemporary(error)) throw error
    log.info(
      { pull: pullId, reason: error.message },
      'a scheduled merge is blocked after its checks',
    )
  }
}

/** Authorizes the user who scheduled the merge. Undefined if they are no longer permitted. */
async function authorizeAgain(
  { db }: Context,
  user: User,
  repositoryId: number,
): Promise<Grants['repository'] | undefined> {
  try {
    return await authorize(db, {
      who: { kind: 'user', user, by: 'password', scopes: undefined },
      access: { kind: 'repository', mode: 'write', isById: true, changesGit: true },
      scopes: [],
      params: { id: String(repositoryId) },
      challenges: false,
      anonymousBytesMax: undefined,
    })
  } catch (error) {
    if (error instanceof Failure && error.status < 500) return undefined
    throw error
  }
}

function isAsWanted({ issue, pull, headTip }: PullState, { headCommit }: ScheduledMerge): boolean {
  return issue.state === 'open' && (headTip ?? pull.headCommit) === headCommit
}

interface Wanted {
  readonly state: PullState
  readonly doer: User
  readonly scheduled: ScheduledMerge
}

async function merge(
  context: Context,
  grant: Grants['repository'],
  { state, doer, scheduled }: Wanted,
): Promise<void> {
  const { queue, settings } = context
  const { repository, who } = grant
  if (repository.isArchived) throw new Failure('archived', 'repo is archived')
  await mergeNow(context, grant, {
    state,
    doer,
    order: {
      style: scheduled.style as MergeStyle,
      title: scheduled.title,
      message: scheduled.message,
      headCommit: scheduled.headCommit,
      deletesBranch: scheduled.deletesBranch,
    },
    async inQueue(work) {
      const leave = await queue.enter(AbortSignal.timeout(settings.git.timeoutMs), {
        repository: repositoryPathOf({ settings }, repository),
        client: clientOf(who, { address: '' }),
      })
      await work().finally(leave)
    },
  })
}

/** True for an error that a retry may not get: the base has just moved, or the server is busy. */
function isTemporary({ status, message }: Failure): boolean {
  return status >= 429 || message === REFERENCE_MOVED || message === REFERENCE_HELD
}
