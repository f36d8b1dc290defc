/** Webhook payloads of repositories, packages, issues, pulls, releases, wikis and statuses. */

import type { Owner } from '../../sql/accounts/owners.js'
import { everyUnit } from '../../sql/repositories/access.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { ownerObject } from '../objects/accounts/user-object.js'
import { repositoryObject } from '../objects/repositories/repository-object.js'
import type { Context } from '../request/context.js'
import type { RepositoryForked, WikiChanged } from '../request/events.js'
import type { WebhookEvent } from './deliveries.js'

/** Access with which the objects of payloads are rendered: webhooks are of owners and admins. */
export const OWNER_ACCESS = { unit: 'any', mode: 'owner', modes: everyUnit('owner') } as const

/** The repository of an event, and the user or organization that caused it. */
export interface PayloadSource {
  readonly repository: Repository
  readonly sender: Owner
}

async function sourceFields(context: Context, { repository, sender }: PayloadSource) {
  return {
    repository: await repositoryObject(context, repository, 'owner'),
    sender: ownerObject(context, sender),
  }
}

/** Payload of a repository that was created or is being deleted. */
export async function repositoryPayload(
  context: Context,
  action: 'created' | 'deleted',
  source: PayloadSource,
): Promise<object> {
  const organization = ownerObject(context, source.repository.owner)
  return { action, ...(await sourceFields(context, source)), organization }
}

export interface DispatchPayloadInput extends PayloadSource {
  readonly inputs: Readonly<Record<string, string>>
  /** Full name of the ref. */
  readonly ref: string
  /** Path of the workflow's file. */
  readonly workflow: string
}

/** Payload of a workflow that a user starts; runs have it, and no webhook gets it. */
export async function dispatchPayload(
  context: Context,
  { inputs, ref, workflow, ...source }: DispatchPayloadInput,
): Promise<object> {
  return { inputs, ref, workflow, ...(await sourceFields(context, source)) }
}

export interface SchedulePayloadInput extends PayloadSource {
  /** Cron expression. */
  readonly schedule: string
  /** Path of the workflow's file. */
  readonly workflow: string
}

/** Payload of a schedule that is due; runs have it, and no webhook gets it. */
export async function schedulePayload(
  context: Context,
  { schedule, workflow, ...source }: SchedulePayloadInput,
): Promise<object> {
  return { schedule, workflow, ...(await sourceFields(context, source)) }
}

/** Event of a fork. As in Gitea, `forkee` is the parent, and `repository` the fork. */
export function forkEvent(
  context: Context,
  { repository: parent, fork, actor }: Omit<RepositoryForked, 'kind'>,
): WebhookEvent {
  // The owner of the parent may not be permitted to see the fork.
  const isVisible = !fork.isPrivate && fork.owner.visibility === 'public'
  const payload = async () => ({
    forkee: await repositoryObject(context, parent, 'owner'),
    repository: isVisible ? await repositoryObject(context, fork, 'read') : null,
    sender: ownerObject(context, actor),
  })
  return { event: 'fork', repository: parent, payload }
}

export interface PackagePayloadInput {
  readonly action: 'created' | 'deleted'
  readonly owner: Owner
  readonly sender: Owner
  /** The repository to which the package is linked. */
  readonly repository: Repository | undefined
  /** The Package of the API. */
  readonly object: object
}

/** Payload of a version of a package that was published or deleted. */
export async function packagePayload(
  context: Context,
  { action, owner, sender, repository, object }: PackagePayloadInput,
): Promise<object> {
  return {
    action,
    repository:
      repository === undefined ? null : await repositoryObject(context, repository, 'owner'),
    package: object,
    organization: owner.kind === 'organization' ? ownerObject(context, owner) : null,
    sender: ownerObject(context, sender),
  }
}

/** Earlier values of edited fields: `{ title: { from: 'old' } }`. */
export type Changes = Readonly<Partial<Record<'title' | 'body' | 'ref', { readonly from: string }>>>

type Kind<F extends string> = F | `${F}_assign` | `${F}_label` | `${F}_milestone`

/** Event of an issue. `issue` is the Issue of the API. */
export function issueEvent(
  context: Context,
  input: PayloadSource & {
    readonly event: Exclude<Kind<'issue'>, 'issue'> | 'issues'
    readonly action: string
    readonly issue: { readonly number: number }
    readonly changes?: Changes
  },
): WebhookEvent {
  const { event, action, issue, changes, repository } = input
  const payload = async () => ({
    action,
    number: issue.number,
    ...(changes === undefined ? {} : { changes }),
    issue,
    ...(await sourceFields(context, input)),
    commit_id: '',
  })
  return { event, repository, payload }
}

/** Event of a comment on an issue or pull request. `issue` and `comment` are the API's objects. */
export function commentEvent(
  context: Context,
  input: PayloadSource & {
    readonly action: 'created' | 'edited' | 'deleted'
    readonly issue: object
    readonly comment: object
    readonly changes?: Changes
    /** The PullRequest of the API, if the comment is on a pull request. */
    readonly pull?: object
  },
): WebhookEvent {
  const { action, issue, comment, changes, pull, repository } = input
  const payload = async () => ({
    action,
    issue,
    comment,
    ...(pull === undefined ? {} : { pull_request: pull }),
    ...(changes === undefined ? {} : { changes }),
    ...(await sourceFields(context, input)),
    is_pull: pull !== undefined,
  })
  return {
    event: pull === undefined ? 'issue_comment' : 'pull_request_comment',
    repository,
    payload,
  }
}

/** Event of a pull request. `pull` is the PullRequest of the API. */
export function pullEvent(
  context: Context,
  input: PayloadSource & {
    readonly event:
      | Kind<'pull_request'>
      | 'pull_request_sync'
      | 'pull_request_review_request'
      | `pull_request_review_${'approved' | 'rejected' | 'comment'}`
    readonly action: string
    readonly pull: { readonly number: number }
    readonly changes?: Changes
    readonly requestedReviewer?: Owner
    readonly review?: { readonly type: string; readonly state: string; readonly content: string }
    readonly commitId?: string
  },
): WebhookEvent {
  const { event, action, pull, changes, requestedReviewer, review, repository } = input
  const payload = async () => ({
    action,
    number: pull.number,
    ...(changes === undefined ? {} : { changes }),
    pull_request: pull,
    requested_reviewer:
      requestedReviewer === undefined ? null : ownerObject(context, requestedReviewer),
    ...(await sourceFields(context, input)),
    commit_id: input.commitId ?? '',
    review: review ?? null,
  })
  return { event, repository, payload }
}

/** Event of a release. `release` is the Release of the API. */
export function releaseEvent(
  context: Context,
  input: PayloadSource & {
    readonly action: 'published' | 'updated' | 'deleted'
    readonly release: object
  },
): WebhookEvent {
  const { action, release, repository } = input
  const payload = async () => ({ action, release, ...(await sourceFields(context, input)) })
  return { event: 'release', repository, payload }
}

/** Event of a wiki page. */
export function wikiEvent(
  context: Context,
  { action, repository, actor, page, comment }: Omit<WikiChanged, 'kind'>,
): WebhookEvent {
  const payload = async () => {
    const fields = await sourceFields(context, { repository, sender: actor })
    return { action, ...fields, page, comment }
  }
  return { event: 'wiki', repository, payload }
}

/** Event of a commit status. `status` is the CommitStatus of the API. */
export function statusEvent(
  context: Context,
  input: PayloadSource & {
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
): WebhookEvent {
  const { sha, status, repository } = input
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
    ...(await sourceFields(context, input)),
  })
  return { event: 'status', repository, payload }
}
