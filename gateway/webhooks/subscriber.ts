/** Subscriber that turns domain events into deliveries of webhooks. */

import type { HookEvent } from '../../conf/hook-events.js'
import { hasPullsElsewhere } from '../../sql/pulls/pull-lists.js'
import { hasSubscribersAnywhere } from '../../sql/webhooks/webhooks.js'
import { listMovedPulls } from '../actions/pulls/moved-pulls.js'
import { ANONYMOUS } from '../auth/authenticate.js'
import { commitStatusObject } from '../objects/code/commit-status-object.js'
import type { Context } from '../request/context.js'
import type {
  CommentChanged,
  DomainEvent,
  IssueChanged,
  JobsChanged,
  PackageChanged,
  RefsChanged,
  ReleaseChanged,
  RepositoryChanged,
  ReviewRequested,
  ReviewSubmitted,
  RunChanged,
  StatusReported,
  Subscriber,
} from '../request/events.js'
import { enqueueDeliveries, hasSubscribers } from './deliveries.js'
import {
  commentChangeEvent,
  issueChangeEvent,
  issueHookEvent,
  movedPullEvent,
  reviewEvent,
  reviewHookEvent,
  reviewRequestEvents,
} from './issue-events.js'
import { packageChangeEvent } from './package-events.js'
import { forkEvent, OWNER_ACCESS, repositoryPayload, statusEvent, wikiEvent } from './payloads.js'
import { REF_EVENTS, refEvents } from './ref-events.js'
import { releaseChangeEvent } from './release-events.js'
import { jobEvents, runEvent } from './run-events.js'

/** Creates the subscriber of one worker. A payload is rendered only if a webhook receives it. */
export function createWebhookSubscriber(context: Context): Subscriber {
  return {
    async handle(event) {
      switch (event.kind) {
        case 'issue_changed':
          return await issueChanged(context, event)
        case 'comment_changed':
          return await commentChanged(context, event)
        case 'review_submitted':
          return await reviewSubmitted(context, event)
        case 'review_requested':
        case 'review_request_removed':
          return await reviewRequested(context, event)
        case 'release_changed':
          return await releaseChanged(context, event)
        case 'wiki_changed':
          return await enqueueDeliveries(context, wikiEvent(context, event))
        case 'status_reported':
          return await statusReported(context, event)
        case 'refs_changed':
          return await refsChanged(context, event)
        case 'repository_created':
          return await repositoryCreated(context, event)
        case 'repository_forked':
          return await enqueueDeliveries(context, forkEvent(context, event))
        case 'run_changed':
          return await runChanged(context, event)
        case 'jobs_changed':
          return await jobsChanged(context, event)
        case 'package_published':
          return await (await preparePackage(context, event))()
        default:
          return undefined
      }
    },
    async prepare(event: DomainEvent) {
      if (event.kind === 'repository_deleted') return await prepareDeletion(context, event)
      if (event.kind === 'package_deleted') return await preparePackage(context, event)
      return async () => {}
    },
    async isInterested(place) {
      const { db } = context
      if (place.kind === 'package_changed') {
        return await hasSubscribersAnywhere(db, place.owner.id, 'package')
      }
      const { repository } = place
      const isHere = await hasSubscribers(context, repository, [...REF_EVENTS, 'pull_request_sync'])
      // Webhooks of other repositories receive that their pull requests have moved.
      return isHere || (await hasPullsElsewhere(db, repository.id))
    },
  }
}

async function issueChanged(context: Context, change: IssueChanged): Promise<void> {
  const { repository, issue, actions } = change
  for (const action of actions) {
    if (!(await hasSubscribers(context, repository, [issueHookEvent(issue, action)]))) continue
    const event = await issueChangeEvent(context, change, action)
    if (event !== undefined) await enqueueDeliveries(context, event)
  }
}

async function commentChanged(context: Context, change: CommentChanged): Promise<void> {
  const event: HookEvent = change.issue.isPull ? 'pull_request_comment' : 'issue_comment'
  if (!(await hasSubscribers(context, change.repository, [event]))) return
  await enqueueDeliveries(context, await commentChangeEvent(context, change))
}

async function releaseChanged(context: Context, change: ReleaseChanged): Promise<void> {
  if (!(await hasSubscribers(context, change.repository, ['release']))) return
  await enqueueDeliveries(context, await releaseChangeEvent(context, change))
}

async function statusReported(context: Context, report: StatusReported): Promise<void> {
  const { repository, status: row, actor } = report
  if (!(await hasSubscribers(context, repository, ['status']))) return
  const status = commitStatusObject(context, viewOf(report), row)
  const input = { repository, sender: actor, sha: row.commitId, status }
  await enqueueDeliveries(context, statusEvent(context, input))
}

async function refsChanged(context: Context, change: RefsChanged): Promise<void> {
  if (await hasSubscribers(context, change.repository, REF_EVENTS)) {
    for (const event of await refEvents(context, change)) await enqueueDeliveries(context, event)
  }
  for (const moved of await listMovedPulls(context, change)) {
    if (!(await hasSubscribers(context, moved.base, ['pull_request_sync']))) continue
    const event = await movedPullEvent(context, moved, change)
    if (event !== undefined) await enqueueDeliveries(context, event)
  }
}

async function reviewSubmitted(context: Context, submitted: ReviewSubmitted): Promise<void> {
  const kind = reviewHookEvent(submitted.review)
  if (kind === undefined) return
  if (!(await hasSubscribers(context, submitted.repository, [kind]))) return
  const event = await reviewEvent(context, submitted)
  if (event !== undefined) await enqueueDeliveries(context, event)
}

async function reviewRequested(context: Context, request: ReviewRequested): Promise<void> {
  const { repository } = request
  if (!(await hasSubscribers(context, repository, ['pull_request_review_request']))) return
  for (const event of await reviewRequestEvents(context, request)) {
    await enqueueDeliveries(context, event)
  }
}

async function repositoryCreated(context: Context, change: RepositoryChanged): Promise<void> {
  const { repository, actor } = change
  await enqueueDeliveries(context, {
    event: 'repository',
    repository,
    payload: () => repositoryPayload(context, 'created', { repository, sender: actor }),
  })
}

async function runChanged(context: Context, change: RunChanged): Promise<void> {
  if (!(await hasSubscribers(context, change.repository, ['workflow_run']))) return
  await enqueueDeliveries(context, runEvent(context, change))
}

async function jobsChanged(context: Context, change: JobsChanged): Promise<void> {
  if (!(await hasSubscribers(context, change.repository, ['workflow_job']))) return
  for (const event of await jobEvents(context, change)) await enqueueDeliveries(context, event)
}

/** Renders the payload before the deletion. Only the webhooks of the owner receive it. */
async function prepareDeletion(
  context: Context,
  { repository, actor }: RepositoryChanged,
): Promise<() => Promise<void>> {
  if (!(await hasSubscribers(context, repository, ['repository']))) return async () => {}
  const source = { repository, sender: actor }
  // A repository whose folder is lost can be deleted, but not rendered.
  const payload = await repositoryPayload(context, 'deleted', source).catch(() => undefined)
  const { owner } = repository
  return () => enqueueDeliveries(context, { event: 'repository', owner, payload: () => payload })
}

/** Reads the rows of the version now, because they may be deleted. */
async function preparePackage(
  context: Context,
  change: PackageChanged,
): Promise<() => Promise<void>> {
  const event = await packageChangeEvent(context, change)
  return async () => {
    if (event !== undefined) await enqueueDeliveries(context, event)
  }
}

function viewOf({ repository, actor }: Pick<StatusReported, 'repository' | 'actor'>) {
  return { who: ANONYMOUS, user: actor, repository, ...OWNER_ACCESS, hasMoved: false } as const
}
