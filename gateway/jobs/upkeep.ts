/** Background jobs of a gateway process, and the functions that enqueue them. */

import { enqueueJob } from '../../sql/admin/jobs.js'
import { pruneSubject } from '../actions/repositories/prune-repository.js'
import type { Upkeep } from '../request/upkeep.js'
import { BACK_UP_SITE } from './back-up-site.js'
import { CLEAN_ALL_PACKAGES, CLEAN_PACKAGES } from './clean-packages.js'
import { DELIVER_WEBHOOK } from './deliver-webhook.js'
import type { JobContext, JobKind } from './job.js'
import { MAINTAIN_REPOSITORY, maintenanceSubject } from './maintain-repository.js'
import { MARK_REPOSITORIES } from './mark-repositories.js'
import { MERGE_PULL, mergePullWith } from './merge-pull.js'
import { NOTIFY, notifySubject } from './notify.js'
import { PRUNE_REPOSITORIES } from './prune-repositories.js'
import { PRUNE_REPOSITORY } from './prune-repository.js'
import { RETIRE_SIGNING_KEYS } from './retire-signing-keys.js'
import { createJobRunner } from './runner.js'
import { SWEEP_ACTIVITIES } from './sweep-activities.js'
import { SWEEP_ARTIFACTS } from './sweep-artifacts.js'
import { SWEEP_AUDIT_LOG } from './sweep-audit-log.js'
import { SWEEP_DELIVERIES } from './sweep-deliveries.js'
import { SWEEP_PACKAGES } from './sweep-packages.js'
import { SWEEP_REPOSITORIES } from './sweep-repositories.js'
import { SWEEP_SESSIONS } from './sweep-sessions.js'
import { SWEEP_TOKENS } from './sweep-tokens.js'
import { SYNC_MIRROR } from './sync-mirror.js'
import { SYNC_MIRRORS } from './sync-mirrors.js'
import { SYNC_PUSH_MIRROR } from './sync-push-mirror.js'
import { SYNC_PUSH_MIRRORS } from './sync-push-mirrors.js'
import {
  PLAN_EVENT,
  PLAN_JOB,
  REFRESH_SCHEDULES,
  type RunActions,
  WORKFLOW_KINDS,
  workflowJobsWith,
} from './workflow-runs.js'

const KINDS: readonly JobKind[] = [
  CLEAN_ALL_PACKAGES,
  CLEAN_PACKAGES,
  MAINTAIN_REPOSITORY,
  MARK_REPOSITORIES,
  PRUNE_REPOSITORIES,
  RETIRE_SIGNING_KEYS,
  SWEEP_ACTIVITIES,
  SWEEP_ARTIFACTS,
  SWEEP_AUDIT_LOG,
  SWEEP_DELIVERIES,
  SWEEP_PACKAGES,
  SWEEP_REPOSITORIES,
  SWEEP_SESSIONS,
  SWEEP_TOKENS,
  SYNC_MIRROR,
  SYNC_MIRRORS,
]

/** Maximum number of concurrent merges per machine. */
const MERGES_MAX = 2

export interface UpkeepOptions {
  /** Merges a pull request that waits for its checks, unless the merge was cancelled. */
  readonly mergePull?: (pullId: number) => Promise<void>
  /** Actions on workflow runs. */
  readonly runs?: RunActions
}

const NO_RUNS: RunActions = {
  async planEvent() {},
  async planJob() {},
  async sweepRuns() {},
  async refreshSchedules() {},
  async startSchedules() {},
}

/** Maximum number of concurrent pushes to push mirrors per machine. */
const MIRROR_PUSHES_MAX = 2
const PUSH_MIRROR_KINDS = [SYNC_PUSH_MIRROR, SYNC_PUSH_MIRRORS]

/** Maximum number of events that are planned concurrently per machine. */
const PLANS_MAX = 2

/** Creates the background jobs. If maintenance is disabled, only urgent kinds are run. */
export function createUpkeep(context: JobContext, options: UpkeepOptions = {}): Upkeep {
  const { isEnabled, delayMs } = context.settings.maintenance
  const runners = createRunners(context, options)
  const { deliveries, notifications, merges, prunes, mirrorPushes, plans, backups, others } =
    runners
  const hasBackups = context.settings.backup.dir !== undefined
  const started = Object.values(runners).filter(
    (runner) => (isEnabled || runner !== others) && (hasBackups || runner !== backups),
  )
  const enqueueNow = async ({ kind }: JobKind, id: number) => {
    await enqueueJob(context.db, { kind, subject: String(id), delayMs: 0 })
    if (isEnabled) others.pollIn(0)
  }
  return {
    periodicJobs: [...PUSH_MIRROR_KINDS, ...workflowJobsWith(NO_RUNS), ...(isEnabled ? KINDS : [])]
      .flatMap(({ kind, everyMs }) => (everyMs === undefined ? [] : [{ kind, everyMs }]))
      .sort((one, other) => one.kind.localeCompare(other.kind)),
    async enqueuePeriodic({ kind }) {
      await enqueueJob(context.db, { kind, subject: 'all', delayMs: 0, isSooner: true })
    },
    async enqueueMaintenance(repository) {
      if (!isEnabled) return
      const subject = maintenanceSubject(repository)
      const input = { kind: MAINTAIN_REPOSITORY.kind, subject, delayMs }
      try {
        await enqueueJob(context.db, input)
        others.pollIn(delayMs)
      } catch (error) {
        context.log.warn(
          { error, repository: repository.id },
          'the maintenance after a push was not enqueued',
        )
      }
    },
    pollDeliveries: () => deliveries.pollIn(0),
    enqueueMarks: (ownerId) => enqueueNow(MARK_REPOSITORIES, ownerId),
    enqueueMirrorSync: (repositoryId) => enqueueNow(SYNC_MIRROR, repositoryId),
    async enqueuePushMirror(mirrorId) {
      const input = { kind: SYNC_PUSH_MIRROR.kind, subject: String(mirrorId), delayMs: 0 }
      await enqueueJob(context.db, { ...input, isSooner: true })
      mirrorPushes.pollIn(0)
    },
    enqueueCleanup: (ruleId) => enqueueNow(CLEAN_PACKAGES, ruleId),
    async enqueuePrune(wanted) {
      const input = { kind: PRUNE_REPOSITORY.kind, subject: pruneSubject(wanted), delayMs: 0 }
      await enqueueJob(context.db, { ...input, isSooner: true })
      prunes.pollIn(0)
    },
    async notifyUsers(notification) {
      const input = { kind: NOTIFY.kind, subject: notifySubject(notification), delayMs: 0 }
      try {
        await enqueueJob(context.db, { ...input, isSooner: true })
        notifications.pollIn(0)
      } catch (error) {
        context.log.warn(
          { error, repository: notification.repositoryId },
          'the notification of users was not enqueued',
        )
      }
    },
    async enqueueMerge(pullId) {
      const input = { kind: MERGE_PULL, subject: String(pullId), delayMs: 0, isSooner: true }
      await enqueueJob(context.db, input)
      merges.pollIn(0)
    },
    async enqueuePlan(eventId) {
      await enqueueJob(context.db, { kind: PLAN_EVENT, subject: String(eventId), delayMs: 0 })
      plans.pollIn(0)
    },
    async enqueueJobPlan(jobId) {
      await enqueueJob(context.db, { kind: PLAN_JOB, subject: String(jobId), delayMs: 0 })
      plans.pollIn(0)
    },
    async enqueueSchedules(repositoryId) {
      const input = { kind: REFRESH_SCHEDULES, subject: String(repositoryId), delayMs: 0 }
      await enqueueJob(context.db, input)
      plans.pollIn(0)
    },
    start() {
      for (const runner of started) runner.start()
    },
    async stop() {
      await Promise.all(started.map((runner) => runner.stop()))
    },
  }
}

/** Creates the runners: one for all kinds that may wait for each other, and one for each other. */
function createRunners(
  context: JobContext,
  { mergePull = async () => {}, runs = NO_RUNS }: UpkeepOptions,
) {
  const { webhooks } = context.settings
  const pushMirrorKinds = PUSH_MIRROR_KINDS.map(({ kind }) => kind)
  const urgent = [
    DELIVER_WEBHOOK.kind,
    NOTIFY.kind,
    MERGE_PULL,
    PRUNE_REPOSITORY.kind,
    BACK_UP_SITE.kind,
    ...pushMirrorKinds,
  ]
  // Deliveries have their own runner, so that slow receivers and large repositories do not delay
  // each other.
  const deliveries = createJobRunner(context, {
    kinds: [DELIVER_WEBHOOK],
    takes: { of: [DELIVER_WEBHOOK.kind] },
    name: 'webhooks',
    jobsMax: webhooks.deliveriesMax,
    concurrencyMax: webhooks.deliveriesMax,
  })
  const notifications = createJobRunner(context, {
    kinds: [NOTIFY],
    takes: { of: [NOTIFY.kind] },
    name: 'notifications',
    jobsMax: 1,
  })
  const merges = createJobRunner(context, {
    kinds: [mergePullWith(mergePull)],
    takes: { of: [MERGE_PULL] },
    name: 'merges',
    jobsMax: MERGES_MAX,
  })
  // Prunes have their own runner, because a leaked password may have to be removed quickly.
  const prunes = createJobRunner(context, {
    kinds: [PRUNE_REPOSITORY],
    takes: { of: [PRUNE_REPOSITORY.kind] },
    name: 'prunes',
    jobsMax: 1,
  })
  // Pushes wait for other servers, so they have their own runner too.
  const mirrorPushes = createJobRunner(context, {
    kinds: PUSH_MIRROR_KINDS,
    takes: { of: pushMirrorKinds },
    name: 'push mirrors',
    jobsMax: MIRROR_PUSHES_MAX,
  })
  const plans = createJobRunner(context, {
    kinds: workflowJobsWith(runs),
    takes: { of: WORKFLOW_KINDS },
    name: 'workflows',
    jobsMax: PLANS_MAX,
  })
  // A backup may take hours. Only gateways with the setting run it.
  const backups = createJobRunner(context, {
    kinds: [BACK_UP_SITE],
    takes: { of: [BACK_UP_SITE.kind] },
    name: 'backups',
    jobsMax: 1,
  })
  const others = createJobRunner(context, {
    kinds: KINDS,
    takes: { without: [...urgent, ...WORKFLOW_KINDS] },
  })
  return { deliveries, notifications, merges, prunes, mirrorPushes, plans, backups, others }
}
