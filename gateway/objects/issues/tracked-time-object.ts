/** The TrackedTime and the StopWatch of this API. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { findIssuesById } from '../../../sql/issues/issues.js'
import type { Stopwatch } from '../../../sql/issues/stopwatches.js'
import { durationText, type TrackedTime } from '../../../sql/issues/tracked-times.js'
import type { Context } from '../../request/context.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { foundIssueObjects, ISSUE } from './issue-object.js'

export const TRACKED_TIME = Type.Object(
  {
    id: Type.Integer(),
    created: TIME,
    time: Type.Integer({ description: 'time in seconds' }),
    user_id: Type.Integer({ description: 'deprecated' }),
    user_name: Type.String(),
    issue_id: Type.Integer({ description: 'deprecated' }),
    issue: nullable(ISSUE),
  },
  { $id: 'TrackedTime' },
)

export const STOP_WATCH = Type.Object(
  {
    created: TIME,
    seconds: Type.Integer(),
    duration: Type.String(),
    issue_index: Type.Integer(),
    issue_title: Type.String(),
    repo_owner_name: Type.String(),
    repo_name: Type.String(),
  },
  { $id: 'StopWatch' },
)

/** Returns times on issues of any repositories, all of which `viewer` can read. */
export async function trackedTimeObjects(
  context: Context,
  times: readonly TrackedTime[],
  viewer: User | undefined,
): Promise<readonly Static<typeof TRACKED_TIME>[]> {
  const issues = await issuesById(context, times, viewer)
  const users = await findOwnersById(context.db, [...new Set(times.map(({ userId }) => userId))])
  return times.map(({ id, issueId, userId, seconds, createdAtMs }) => ({
    id,
    created: apiTime(createdAtMs),
    time: seconds,
    user_id: userId,
    user_name: users.get(userId)?.name ?? '',
    issue_id: issueId,
    issue: issues.get(issueId) ?? null,
  }))
}

/** Returns stopwatches on issues of any repositories, all of which `viewer` can read. */
export async function stopwatchObjects(
  context: Context,
  stopwatches: readonly Stopwatch[],
  viewer: User,
): Promise<readonly Static<typeof STOP_WATCH>[]> {
  const issues = await issuesById(context, stopwatches, viewer)
  return stopwatches.flatMap(({ issueId, createdAtMs }) => {
    const issue = issues.get(issueId)
    if (issue === undefined) return []
    const seconds = Math.max(0, Math.floor((Date.now() - createdAtMs) / 1_000))
    return [
      {
        created: apiTime(createdAtMs),
        seconds,
        duration: durationText(seconds),
        issue_index: issue.number,
        issue_title: issue.title,
        repo_owner_name: issue.repository.owner,
        repo_name: issue.repository.name,
      },
    ]
  })
}

async function issuesById(
  context: Context,
  entries: readonly { readonly issueId: number }[],
  viewer: User | undefined,
): Promise<ReadonlyMap<number, Static<typeof ISSUE>>> {
  const ids = [...new Set(entries.map(({ issueId }) => issueId))]
  const found = await findIssuesById(context.db, ids)
  const objects = await foundIssueObjects(context, found, viewer)
  return new Map(objects.map((object) => [object.id, object]))
}
