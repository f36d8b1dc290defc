/** Subscriber that turns domain events into deliveries of webhooks. */

import type { HookEvent } from '../../conf/hook-events.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { hasSubscribersAnywhere } from '../../sql/webhooks/webhooks.js'
import { ANONYMOUS } from '../auth/authenticate.js'
import { commitStatusObject } from '../objects/code/commit-status-object.js'
import { packageObjects } from '../objects/packages/package-object.js'
import { releaseObject } from '../objects/releases/release-object.js'
import type { Context } from '../request/context.js'
import type {
  CommentChanged,
  DomainEvent,
  IssueChanged,
  PackageChanged,
  RefsChanged,
  ReleaseChanged,
  RepositoryChanged,
  StatusReported,
  Subscriber,
} from '../request/events.js'
import { enqueueDeliveries, hasSubscribers } from './deliveries.js'
import { commentChangeEvent, issueChangeEvent, issueHookEvent } from './issue-events.js'
import { packagePayload, releaseEvent, repositoryPayload, statusEvent } from './payloads.js'
import { REF_EVENTS, refEvents } from './ref-events.js'

/** Creates the subscriber of one worker. A payload is rendered only if a webhook receives it. */
export function createWebhookSubscriber(context: Context): Subscriber {
  return {
    async handle(event) {
      switch (event.kind) {
        case 'issue_changed':
          return await issueChanged(context, event)
        case 'comment_changed':
          return await commentChanged(context, event)
        case 'release_changed':
          return await releaseChanged(context, event)
        case 'status_reported':
          return await statusReported(context, event)
        case 'refs_changed':
          return await refsChanged(context, event)
        case 'repository_created':
          return await repositoryCreated(context, event)
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
      return place.kind === 'refs_changed'
        ? await hasSubscribers(context, place.repository, REF_EVENTS)
        : await hasSubscribersAnywhere(context.db, place.owner.id, 'package')
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
  const { action, repository, release: row, actor } = change
  if (!(await hasSubscribers(context, repository, ['release']))) return
  const release = await releaseObject(context, viewOf(change), row)
  const input = { action, repository, sender: actor, release }
  await enqueueDeliveries(context, releaseEvent(context, input))
}

async function statusReported(context: Context, report: StatusReported): Promise<void> {
  const { repository, status: row, actor } = report
  if (!(await hasSubscribers(context, repository, ['status']))) return
  const status = commitStatusObject(context, viewOf(report), row)
  const input = { repository, sender: actor, sha: row.commitId, status }
  await enqueueDeliveries(context, statusEvent(context, input))
}

async function refsChanged(context: Context, change: RefsChanged): Promise<void> {
  if (!(await hasSubscribers(context, change.repository, REF_EVENTS))) return
  for (const event of await refEvents(context, change)) await enqueueDeliveries(context, event)
}

async function repositoryCreated(context: Context, change: RepositoryChanged): Promise<void> {
  const { repository, actor } = change
  await enqueueDeliveries(context, {
    event: 'repository',
    repository,
    payload: () => repositoryPayload(context, 'created', { repository, sender: actor }),
  })
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

/** Renders the Package of the API now, and the payload if a webhook receives it. */
async function preparePackage(
  context: Context,
  { kind, version, grant }: PackageChanged,
): Promise<() => Promise<void>> {
  const { repositoryId } = version
  const [object] = await packageObjects(context, [version], grant)
  const repository =
    repositoryId === undefined ? undefined : await findRepositoryById(context.db, repositoryId)
  const { owner, user: sender = owner } = grant
  return async () => {
    if (object === undefined) return
    const action = kind === 'package_published' ? 'created' : 'deleted'
    const input = { action, owner, sender, repository, object } as const
    const payload = () => packagePayload(context, input)
    await enqueueDeliveries(context, { event: 'package', repository, owner, payload })
  }
}

function viewOf({ repository, actor }: Pick<ReleaseChanged, 'repository' | 'actor'>) {
  return { who: ANONYMOUS, user: actor, repository, mode: 'owner', hasMoved: false } as const
}
