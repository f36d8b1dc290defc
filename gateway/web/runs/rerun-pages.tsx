/** Forms that repeat the jobs of a run, and their targets. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { listJobs, type RunJob } from '../../../sql/runs/run-jobs.js'
import { isFinal } from '../../../sql/runs/statuses.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { readId } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { type Rerun, rerunRun } from '../../runs/rerun-run.js'
import { definePage, redirectTo } from '../kit/page.js'
import { titleOfJob } from './run-facts.js'
import { runOfPath } from './run-of-path.js'

const PATH = '/{owner}/{repo}/actions/runs/{number}'
const ACCESS = { kind: 'repository', mode: 'write', unit: 'actions' } as const

const all = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/rerun`,
  access: ACCESS,
  handle: (context, call) => rerunOf(context, call, () => 'all'),
})

const failed = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/rerun-failed-jobs`,
  access: ACCESS,
  handle: (context, call) => rerunOf(context, call, () => 'failed'),
})

const one = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/jobs/{position}/rerun`,
  access: ACCESS,
  handle: (context, call) =>
    rerunOf(context, call, (jobs) => {
      const position = readId(call.params['position'] ?? '')
      const job = jobs.find((candidate) => candidate.position === position)
      if (job === undefined) throw notFound()
      return job
    }),
})

/** Repeats jobs of the run that a path names, and leads back to its page. */
async function rerunOf(
  context: Context,
  { grant, params }: Pick<Call<'repository'>, 'grant' | 'params'>,
  choose: (jobs: readonly RunJob[]) => Rerun['jobs'],
): Promise<Reply> {
  const { repository } = grant
  const run = await runOfPath(context, { grant, params })
  const user = actingUserOf(grant)
  const jobs = choose(await listJobs(context.db, run.id))
  await rerunRun(context, { run, repository, user, jobs })
  return redirectTo(
    context,
    `/${repository.owner.name}/${repository.name}/actions/runs/${run.number}`,
  )
}

export interface RerunFormsProps {
  /** URL of the run. */
  readonly address: string
  readonly jobs: readonly RunJob[]
}

/** Renders the forms that repeat all jobs, and the failed ones. */
export function RerunForms({ address, jobs }: RerunFormsProps): JSX.Element {
  const hasEnded = jobs.every(({ status }) => isFinal(status))
  const hasFailed = jobs.some(({ status }) => status === 'failure' || status === 'cancelled')
  return (
    <div class="inline">
      {hasEnded && (
        <form method="post" action={`${address}/rerun`}>
          <button type="submit">Re-run all jobs</button>
        </form>
      )}
      {hasFailed && (
        <form method="post" action={`${address}/rerun-failed-jobs`}>
          <button type="submit">Re-run failed jobs</button>
        </form>
      )}
    </div>
  )
}

export interface RerunJobProps {
  /** URL of the run. */
  readonly address: string
  readonly job: RunJob
}

/** Renders the form that repeats a job and those that need it; null if the job has not ended. */
export function RerunJob({ address, job }: RerunJobProps): JSX.Element | null {
  if (!isFinal(job.status)) return null
  return (
    <form method="post" action={`${address}/jobs/${job.position}/rerun`}>
      <button type="submit" aria-label={`Re-run ${titleOfJob(job)}`}>
        Re-run
      </button>
    </form>
  )
}

export const RERUN_PAGES = [all, failed, one]
