/** Commit statuses of jobs. Branch rules name them by their contexts, which therefore stay. */

import type { RunEventName } from '../../conf/run-events.js'
import type { CommitState, NewCommitStatus } from '../../sql/code/commit-statuses.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { cut, NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import type { Run } from '../../sql/runs/runs.js'
import type { RunStatus } from '../../sql/runs/statuses.js'
import type { Context } from '../request/context.js'

const STATES: Readonly<Record<RunStatus, CommitState>> = {
  blocked: 'pending',
  waiting: 'pending',
  running: 'pending',
  cancelling: 'pending',
  success: 'success',
  failure: 'failure',
  cancelled: 'failure',
  skipped: 'skipped',
}

/** Events that are not about the contents of a commit. Their runs say nothing about it. */
const EVENTS_WITHOUT_STATUSES: ReadonlySet<string> = new Set<RunEventName>([
  'issues',
  'issue_comment',
  'pull_request_comment',
  'create',
  'delete',
  'fork',
  'registry_package',
  'workflow_run',
  'schedule',
])

/** True if the jobs of a run are commit statuses. */
export function hasStatuses({ event }: Run): boolean {
  return !EVENTS_WITHOUT_STATUSES.has(event)
}

interface JobOfRun {
  readonly run: Run
  readonly repository: Repository
  readonly job: RunJob
}

/** Returns the commit status of a job, with the context `workflow / job (event)`. */
export function newStatusOf(context: Context, { run, repository, job }: JobOfRun): NewCommitStatus {
  const { baseUrl } = context.settings.http
  const place = `${repository.owner.name}/${repository.name}`
  return {
    repositoryId: repository.id,
    commitId: run.reportedCommitId,
    state: STATES[job.status],
    context: statusContext({ ...run, jobName: job.name }),
    description: run.needsApproval ? 'Waiting for approval' : describe(job),
    targetUrl: `${baseUrl}/${place}/actions/runs/${run.number}/jobs/${job.position}`,
    creatorId: undefined,
  }
}

/** Names of a job and its workflow, and the event of the run. */
export interface NamedJob extends Pick<Run, 'workflowName' | 'event'> {
  readonly jobName: string
}

/** Returns the context of the commit status of a job. */
export function statusContext({ workflowName, jobName, event }: NamedJob): string {
  return cut(`${workflowName} / ${jobName} (${event})`, NAME_CHARACTERS_MAX)
}

function describe({ status, startedAtMs, stoppedAtMs }: RunJob): string {
  const ms = (stoppedAtMs ?? 0) - (startedAtMs ?? stoppedAtMs ?? 0)
  const time = ms < 60_000 ? `${Math.round(ms / 1_000)}s` : `${Math.round(ms / 60_000)}m`
  switch (status) {
    case 'blocked':
      return 'Blocked by required conditions'
    case 'waiting':
      return 'Waiting to run'
    case 'running':
      return 'Has started running'
    case 'cancelling':
      return 'Is being cancelled'
    case 'success':
      return `Successful in ${time}`
    case 'failure':
      return `Failing after ${time}`
    case 'cancelled':
      return 'Has been cancelled'
    case 'skipped':
      return 'Has been skipped'
  }
}
