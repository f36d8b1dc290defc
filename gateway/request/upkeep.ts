/** Background jobs as the other modules use them; gateway/jobs runs them. */

import type { Repository } from '../../sql/repositories/repositories.js'

/** An activity of which users are notified. */
export interface NotificationInput {
  readonly repositoryId: number
  /** User who caused the activity: the only recipient for a run, and no recipient otherwise. */
  readonly actorId: number
  readonly about:
    | { readonly issueNumber: number; readonly to: 'everybody' | 'assignees' | 'reviewers' }
    | { readonly releaseId: number }
    | { readonly runId: number }
    | 'transfer'
}

/** Options of pruning. */
export interface PruneRequest {
  /** Grace period; by default `maintenance.prune.grace`. */
  readonly graceMs?: number | undefined
  /** Full id of a commit that must be removed. */
  readonly commit?: string | undefined
}

/** Prune that is queued as a job. */
export interface QueuedPrune extends PruneRequest {
  readonly repositoryId: number
}

/** Kind of a job that runs at intervals. */
export interface PeriodicJob {
  readonly kind: string
  readonly everyMs: number
}

export interface Upkeep {
  /** Jobs that run at intervals; without those of `maintenance` if that is disabled. */
  readonly periodicJobs: readonly PeriodicJob[]
  /** Makes a job that runs at intervals due immediately. */
  enqueuePeriodic(job: PeriodicJob): Promise<void>
  /** Enqueues the maintenance after a successful push. Never rejects. */
  enqueueMaintenance(repository: Pick<Repository, 'id' | 'isWiki'>): Promise<void>
  /** Starts the delivery of stored webhook deliveries immediately. */
  pollDeliveries(): void
  /** Enqueues the renewal of the markers in the repositories of a renamed owner. */
  enqueueMarks(ownerId: number): Promise<void>
  /** Enqueues the update of a mirror. */
  enqueueMirrorSync(repositoryId: number): Promise<void>
  /** Enqueues a push to a push mirror. */
  enqueuePushMirror(mirrorId: number): Promise<void>
  /** Enqueues a run of a cleanup rule of packages. */
  enqueueCleanup(ruleId: number): Promise<void>
  /** Enqueues the pruning of a repository, which runs also if `maintenance.enabled` is off. */
  enqueuePrune(wanted: QueuedPrune): Promise<void>
  /** Enqueues the notification of users. Never rejects. */
  notifyUsers(notification: NotificationInput): Promise<void>
  /** Enqueues the merge of a pull request, which is done if its checks have succeeded. */
  enqueueMerge(pullId: number): Promise<void>
  /** Enqueues the planning of an event that may start workflow runs. */
  enqueuePlan(eventId: number): Promise<void>
  /** Enqueues the planning of a deferred job of a workflow. */
  enqueueJobPlan(jobId: number): Promise<void>
  /** Enqueues the rebuilding of the schedules of a repository's workflows. */
  enqueueSchedules(repositoryId: number): Promise<void>
  /** Starts to run jobs in this process. */
  start(): void
  /** Aborts the running jobs and releases their leases. */
  stop(): Promise<void>
}
