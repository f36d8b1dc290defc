/** Job that notifies users of an activity; its subject names the activity and the actor. */

import type { Database } from '../../sql/database/database.js'
import { listMentioned } from '../../sql/issues/issue-people.js'
import { findIssue } from '../../sql/issues/issues.js'
import { type AboutRun, type Activity, listAudience } from '../../sql/notifications/audiences.js'
import { notifyUsers } from '../../sql/notifications/notifications.js'
import { findRelease } from '../../sql/releases/releases.js'
import { findPendingTransfer } from '../../sql/repositories/pending-transfers.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { findRunById, type Run } from '../../sql/runs/runs.js'
import type { NotificationInput } from '../request/upkeep.js'
import type { JobKind } from './job.js'

/** Number of users per statement, so that other statements can run in between. */
const USERS_PER_STATEMENT = 500

/**
 * Formats a subject, such as `issue 12 of 4 by 3 to everybody`, `run 5 of 4 by 3` or `transfer of 4
 * by 3`.
 */
export function notifySubject({ repositoryId, actorId, about }: NotificationInput): string {
  const place = `of ${repositoryId} by ${actorId}`
  if (about === 'transfer') return `transfer ${place}`
  if ('releaseId' in about) return `release ${about.releaseId} ${place}`
  if ('runId' in about) return `run ${about.runId} ${place}`
  return `issue ${about.issueNumber} ${place} to ${about.to}`
}

const SUBJECT = /^([a-z]+)(?: (\d+))? of (\d+) by (\d+)(?: to (everybody|assignees|reviewers))?$/

export const NOTIFY: JobKind = {
  kind: 'notify',
  async run({ db }, subject, signal) {
    const activity = await findActivity(db, subject)
    if (activity === undefined) return
    for (let afterId = 0; ; ) {
      signal.throwIfAborted()
      const page = { afterId, limit: USERS_PER_STATEMENT }
      const userIds = await listAudience(db, activity, page)
      await notifyUsers(db, userIds, activity)
      const last = userIds.at(-1)
      if (last === undefined || userIds.length < USERS_PER_STATEMENT) return
      afterId = last
    }
  },
}

/** Returns the activity; undefined if its issue, release, run or transfer is gone meanwhile. */
async function findActivity(db: Database, subject: string): Promise<Activity | undefined> {
  const [, kind, number, repositoryId = 0, actorId, to] = SUBJECT.exec(subject) ?? []
  const repository = await findRepositoryById(db, Number(repositoryId))
  if (repository === undefined) return undefined
  const place = { repository, actorId: Number(actorId) }
  if (kind === 'release') {
    const release = await findRelease(db, repository.id, Number(number))
    if (release === undefined || release.isDraft) return undefined
    const mentionedIds = await listMentioned(db, release.body)
    return { ...place, about: { releaseId: release.id, mentionedIds } }
  }
  if (kind === 'transfer') {
    const pending = await findPendingTransfer(db, repository.id)
    return pending && { ...place, about: { transferOf: repository.id } }
  }
  if (kind === 'run') {
    const run = await findRunById(db, Number(number))
    const to = { userId: Number(actorId) }
    return run && { repository, actorId: undefined, about: await aboutRun(db, run, to) }
  }
  const issue = await findIssue(db, repository.id, Number(number))
  if (issue === undefined) return undefined
  return {
    ...place,
    about: { issueId: issue.id, isPull: issue.isPull, to: (to ?? 'everybody') as 'everybody' },
  }
}

/** Returns the subject of a run: its pull request, or else the run itself. */
async function aboutRun(
  db: Database,
  { id, repositoryId, pull }: Run,
  to: AboutRun['to'],
): Promise<Activity['about']> {
  const issue = pull && (await findIssue(db, repositoryId, pull.number))
  return issue === undefined ? { runId: id, to } : { issueId: issue.id, isPull: true, to }
}
