/** What receivers are told of repositories, packages, issues, pulls, releases and statuses. */

import type { Owner } from '../../../sql/accounts/owners.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { ownerObject } from '../../objects/accounts/user-object.js'
import { repositoryObject } from '../../objects/repositories/repository-object.js'
import type { Context } from '../../request/context.js'
import { type DomainEvent, hasSubscribers } from './events.js'

/** Where it happened, and who did it. */
export interface Scene {
  readonly repository: Repository
  readonly sender: Owner
}

async function sceneOf(context: Context, { repository, sender }: Scene) {
  return {
    repository: await repositoryObject(context, repository, 'owner'),
    sender: ownerObject(context, sender),
  }
}

/**
 * A repository was made, or goes: then its owner's webhooks alone are there to hear of it, and it
 * is looked at here, as long as it is there.
 */
export async function repositoryEvent(
  context: Context,
  scene: Scene & { readonly action: 'created' | 'deleted' },
): Promise<DomainEvent> {
  const { repository, action } = scene
  const organization = ownerObject(context, repository.owner)
  const payload = async () => ({ action, ...(await sceneOf(context, scene)), organization })
  if (action === 'created') return { event: 'repository', repository, payload }
  const isNotified = await hasSubscribers(context, repository, ['repository'])
  // One whose folder is lost can be removed all the same.
  const seen = isNotified ? await payload().catch(() => undefined) : undefined
  return { event: 'repository', owner: repository.owner, payload: () => seen }
}

/** A version of a package was published, or taken back. `object` is the Package of the API. */
export function packageEvent(
  context: Context,
  told: {
    readonly action: 'created' | 'deleted'
    readonly owner: Owner
    readonly sender: Owner
    readonly repository: Repository | undefined
    readonly object: () => Promise<object | undefined>
  },
): DomainEvent {
  const { action, owner, sender, repository } = told
  const payload = async () => {
    const object = await told.object()
    if (object === undefined) return undefined
    return {
      action,
      repository:
        repository === undefined ? null : await repositoryObject(context, repository, 'owner'),
      package: object,
      organization: owner.kind === 'organization' ? ownerObject(context, owner) : null,
      sender: ownerObject(context, sender),
    }
  }
  return { event: 'package', repository, owner, payload }
}

/** What a text or a title was before: `{ title: { from: 'old' } }`. */
export type Changes = Readonly<Partial<Record<'title' | 'body' | 'ref', { readonly from: string }>>>

type Kind<F extends string> = F | `${F}_assign` | `${F}_label` | `${F}_milestone`

/** Something about an issue. `issue` is the Issue of the API. */
export function issueEvent(
  context: Context,
  told: Scene & {
    readonly event: Exclude<Kind<'issue'>, 'issue'> | 'issues'
    readonly action: string
    readonly issue: { readonly number: number }
    readonly changes?: Changes
  },
): DomainEvent {
  const { event, action, issue, changes, repository } = told
  const payload = async () => ({
    action,
    number: issue.number,
    ...(changes === undefined ? {} : { changes }),
    issue,
    ...(await sceneOf(context, told)),
    commit_id: '',
  })
  return { event, repository, payload }
}

/** A comment on an issue or on a pull. `issue` and `comment` are those of the API. */
export function commentEvent(
  context: Context,
  told: Scene & {
    readonly action: 'created' | 'edited' | 'deleted'
    readonly issue: object
    readonly comment: object
    readonly changes?: Changes
    /** The PullRequest of the API, for a comment on one. */
    readonly pull?: object
  },
): DomainEvent {
  const { action, issue, comment, changes, pull, repository } = told
  const payload = async () => ({
    action,
    issue,
    comment,
    ...(pull === undefined ? {} : { pull_request: pull }),
    ...(changes === undefined ? {} : { changes }),
    ...(await sceneOf(context, told)),
    is_pull: pull !== undefined,
  })
  return {
    event: pull === undefined ? 'issue_comment' : 'pull_request_comment',
    repository,
    payload,
  }
}

/** Something about a pull. `pull` is the PullRequest of the API. */
export function pullEvent(
  context: Context,
  told: Scene & {
    readonly event:
      | Kind<'pull_request'>
      | 'pull_request_sync'
      | 'pull_request_review_request'
      | `pull_request_review_${'approved' | 'rejected' | 'comment'}`
    readonly action: string
    readonly pull: { readonly number: number }
    readonly changes?: Changes
    readonly requestedReviewer?: Owner
    readonly review?: { readonly type: string; readonly content: string }
    readonly commitId?: string
  },
): DomainEvent {
  const { event, action, pull, changes, requestedReviewer, review, repository } = told
  const payload = async () => ({
    action,
    number: pull.number,
    ...(changes === undefined ? {} : { changes }),
    pull_request: pull,
    requested_reviewer:
      requestedReviewer === undefined ? null : ownerObject(context, requestedReviewer),
    ...(await sceneOf(context, told)),
    commit_id: told.commitId ?? '',
    review: review ?? null,
  })
  return { event, repository, payload }
}

/** Something about a release. `release` is the Release of the API. */
export function releaseEvent(
  context: Context,
  told: Scene & {
    readonly action: 'published' | 'updated' | 'deleted'
    readonly release: object
  },
): DomainEvent {
  const { action, release, repository } = told
  const payload = async () => ({ action, release, ...(await sceneOf(context, told)) })
  return { event: 'release', repository, payload }
}

/** The status of a commit. `status` is the CommitStatus of the API. */
export function statusEvent(
  context: Context,
  told: Scene & {
    readonly sha: string
    readonly status: {
      readonly id: number
      readonly context: string
      readonly status: string
      readonly description: string
      readonly target_url: string
      readonly created_at: string
      readonly updated_at: string
    }
  },
): DomainEvent {
  const { sha, status, repository } = told
  const { status: state, id, description, target_url, created_at, updated_at } = status
  const payload = async () => ({
    id,
    sha,
    state,
    context: status.context,
    description,
    target_url,
    created_at,
    updated_at,
    ...(await sceneOf(context, told)),
  })
  return { event: 'status', repository, payload }
}
