/** Domain events: the changes that use cases publish, and the modules that subscribe to them. */

import type { PushedChange } from '../../cgi/refs/pushed-changes.js'
import type { Log } from '../../conf/log.js'
import type { Owner } from '../../sql/accounts/owners.js'
import type { User } from '../../sql/accounts/users.js'
import type { CommitStatus } from '../../sql/code/commit-statuses.js'
import type { Comment } from '../../sql/issues/comments.js'
import type { Issue } from '../../sql/issues/issues.js'
import type { ListedVersion } from '../../sql/packages/package-lists.js'
import type { Review } from '../../sql/pulls/reviews.js'
import type { Release } from '../../sql/releases/releases.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import type { Run } from '../../sql/runs/runs.js'
import type { Grants } from '../auth/authorize.js'

/** Changes of an issue or a pull request; the names are those of Gitea's webhook payloads. */
export type IssueAction =
  | 'opened'
  | 'closed'
  | 'reopened'
  | 'edited'
  | 'deleted'
  | 'assigned'
  | 'unassigned'
  | 'label_updated'
  | 'label_cleared'
  | 'milestoned'
  | 'demilestoned'

/** The repository of an event, and the user whose request caused it. */
interface RepositoryEvent {
  readonly repository: Repository
  readonly actor: User
}

interface IssueEvent extends RepositoryEvent {
  /** The row before the change; after it, if the change created the row. */
  readonly issue: Issue
}

export interface IssueChanged extends IssueEvent {
  readonly kind: 'issue_changed'
  /** Changes that one request made; empty for a change without an event of its own. */
  readonly actions: readonly IssueAction[]
}

export interface CommentChanged extends IssueEvent {
  readonly kind: 'comment_changed'
  readonly action: 'created' | 'edited' | 'deleted'
  /** The row before the change; after it, if the change created the row. */
  readonly comment: Comment
}

export interface ReviewSubmitted extends RepositoryEvent {
  readonly kind: 'review_submitted'
  readonly issue: Pick<Issue, 'number'>
  readonly review: Review
}

export interface ReviewRequested extends RepositoryEvent {
  readonly kind: 'review_requested' | 'review_request_removed'
  readonly issue: Issue
  /** Users and teams of one API request; undefined for a team. */
  readonly reviewers: ReadonlyArray<Owner | undefined>
}

export interface ReleaseChanged extends RepositoryEvent {
  readonly kind: 'release_changed'
  readonly action: 'published' | 'updated' | 'deleted'
  /** The row after the change, or before a deletion. Never a draft. */
  readonly release: Release
}

export interface WikiChanged extends RepositoryEvent {
  readonly kind: 'wiki_changed'
  readonly action: 'created' | 'edited' | 'deleted'
  /** Path segment of the page. */
  readonly page: string
  /** Message of the commit. */
  readonly comment: string
}

export interface StatusReported extends RepositoryEvent {
  readonly kind: 'status_reported'
  readonly status: CommitStatus
}

/** Branches or tags that a push or an API request created, moved or deleted. */
export interface RefsChanged {
  readonly kind: 'refs_changed'
  /** The row before the push, which may have changed it. */
  readonly repository: Repository
  /** The pusher; for a deploy key, the owner of the repository. */
  readonly pusher: Owner
  readonly changes: readonly PushedChange[]
  /** Identifies the push: an event that is published twice under one key is delivered once. */
  readonly key: string
}

export interface RepositoryChanged {
  readonly kind: 'repository_created' | 'repository_deleted'
  readonly repository: Repository
  readonly actor: Owner
}

export interface RepositoryForked extends RepositoryEvent {
  readonly kind: 'repository_forked'
  readonly fork: Repository
}

/** A run that was created, whose first job has begun, or that has ended. */
export interface RunChanged {
  readonly kind: 'run_changed'
  readonly action: 'requested' | 'in_progress' | 'completed'
  readonly repository: Repository
  /** The row after the change. */
  readonly run: Run
}

/** Jobs of a run that were created, or whose status has changed. */
export interface JobsChanged {
  readonly kind: 'jobs_changed'
  readonly repository: Repository
  /** The rows after the change. */
  readonly run: Run
  readonly jobs: readonly RunJob[]
}

export interface PackageChanged {
  readonly kind: 'package_published' | 'package_deleted'
  readonly version: ListedVersion
  /** The permission of the request, which decides what its payload may show. */
  readonly grant: Grants['packages']
}

export type DomainEvent =
  | IssueChanged
  | CommentChanged
  | ReviewSubmitted
  | ReviewRequested
  | ReleaseChanged
  | WikiChanged
  | StatusReported
  | RefsChanged
  | RepositoryChanged
  | RepositoryForked
  | RunChanged
  | JobsChanged
  | PackageChanged

/** Events that are costly to publish, by the place in which they happen. */
export type EventPlace =
  | {
      readonly kind: 'refs_changed'
      readonly repository: Pick<Repository, 'id' | 'owner' | 'preferences'>
    }
  | { readonly kind: 'package_changed'; readonly owner: Pick<Owner, 'id'> }

/** A module that acts on events. */
export interface Subscriber {
  /** Acts on an event whose change is committed. Ignores the kinds that it does not know. */
  handle(event: DomainEvent): Promise<void>
  /**
   * Reads the rows that an event is about before they are deleted. The returned function acts on
   * the event; the caller calls it after the deletion.
   */
  prepare?(event: DomainEvent): Promise<() => Promise<void>>
  /** Returns true if the subscriber acts on the events of a place. */
  isInterested?(place: EventPlace): Promise<boolean>
}

export interface Events {
  subscribe(subscriber: Subscriber): void
  /** Passes an event to all subscribers. Never rejects: the change is committed already. */
  publish(event: DomainEvent): Promise<void>
  /** Passes an event to all subscribers. Rejects if one of them fails; the caller tries again. */
  record(event: DomainEvent): Promise<void>
  /** Prepares an event of a deletion; the returned function publishes it. Neither rejects. */
  prepare(event: DomainEvent): Promise<() => Promise<void>>
  /** Returns true if a subscriber acts on the events of a place. */
  isInterested(place: EventPlace): Promise<boolean>
}

/** Creates the events of one worker, without subscribers. */
export function createEvents(log: Log): Events {
  const subscribers: Subscriber[] = []

  async function withWarning<T>(
    { kind }: DomainEvent,
    action: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await action()
    } catch (error) {
      log.warn({ error, event: kind }, 'a subscriber failed to handle an event')
      return undefined
    }
  }

  return {
    subscribe(subscriber) {
      subscribers.push(subscriber)
    },
    async publish(event) {
      for (const subscriber of subscribers) {
        await withWarning(event, () => subscriber.handle(event))
      }
    },
    async record(event) {
      for (const subscriber of subscribers) await subscriber.handle(event)
    },
    async prepare(event) {
      const prepared: (() => Promise<void>)[] = []
      for (const subscriber of subscribers) {
        const handle = await withWarning(event, async () => subscriber.prepare?.(event))
        if (handle !== undefined) prepared.push(handle)
      }
      return async () => {
        for (const handle of prepared) await withWarning(event, handle)
      }
    },
    async isInterested(place) {
      for (const subscriber of subscribers) {
        if ((await subscriber.isInterested?.(place)) === true) return true
      }
      return false
    },
  }
}
