/** Page of a job: its steps with their log; and the whole log as a text. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import { listJobs, type RunJob } from '../../../sql/runs/run-jobs.js'
import type { Run } from '../../../sql/runs/runs.js'
import { isFinal } from '../../../sql/runs/statuses.js'
import { countLogRows } from '../../../sql/runs/task-logs.js'
import { findTask } from '../../../sql/runs/tasks.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { TASK_SUMMARIES_BYTES_MAX } from '../../runs/step-summaries.js'
import { wholeLogReply } from '../../runs/whole-log.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage } from '../kit/page.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { GroupNotice } from './group-notice.js'
import { readSummaries, Summaries } from './job-summaries.js'
import { sectionsOf } from './log-sections.js'
import { LogView } from './log-view.js'
import { findMissingLabels, MissingLabels } from './missing-labels.js'
import { AttemptLinks, attemptQuery, earlierAttempt } from './run-attempts.js'
import { titleOfJob, titleOfRun } from './run-facts.js'
import { runOfPath } from './run-of-path.js'
import { Duration, Status } from './run-status.js'
import { readShownLog } from './shown-log.js'

const PATH = '/{owner}/{repo}/actions/runs/{number}/jobs/{position}'
const ACCESS = { kind: 'repository', mode: 'read', unit: 'actions' } as const

/** Interval at which the page of an unfinished job is loaded again. */
const REFRESH_SECONDS = 5

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const { db } = context
    const { run, job, attempt } = await jobOfPath(context, { request, grant, params })
    const task = job.taskId === undefined ? undefined : await findTask(db, job.taskId)
    const rows = task === undefined ? 0 : await countLogRows(db, task.id)
    const sections = sectionsOf({ job, task, rows })
    const logs = task === undefined ? [] : await readShownLog(db, task.id, sections)
    const waiting = job.status === 'waiting' ? [job.labels] : []
    const missing = await findMissingLabels(context, grant.repository, waiting)
    const bytesMax = TASK_SUMMARIES_BYTES_MAX
    const summaries = await readSummaries(context, grant, { jobs: [job], bytesMax })
    const isFollowed =
      !isFinal(job.status) && new URLSearchParams(request.query).get('follow') !== '0'
    const runAddress = `${repositoryUrl(context, grant)}/actions/runs/${run.number}`
    const address = `${runAddress}/jobs/${job.position}`
    const title = titleOfJob(job)
    const page = (
      <RepositoryDocument context={context} grant={grant} tab="actions" title={title}>
        <h2>
          <Shown text={title} /> <Status status={job.status} />
        </h2>
        <p class="quiet">
          <a href={`${runAddress}${attemptQuery(attempt)}`}>
            <Shown text={titleOfRun(run)} />
            {` #${run.number}`}
          </a>{' '}
          <Duration {...job} />
          {job.environment !== '' && (
            <>
              {' · environment '}
              <Shown text={job.environment} />
            </>
          )}
        </p>
        <AttemptLinks address={address} run={run} shown={attempt} />
        <LogLinks address={address} job={job} attempt={attempt} isFollowed={isFollowed} />
        <GroupNotice of={job} />
        <MissingLabels lists={missing} />
        {job.reason !== '' && (
          <p class="notice">
            <Shown text={job.reason} />
          </p>
        )}
        <Summaries shown={summaries} hasTitles={false} />
        <LogView sections={sections} logs={logs} />
      </RepositoryDocument>
    )
    const headers = isFollowed ? ([['Refresh', String(REFRESH_SECONDS)]] as const) : []
    return htmlReply(request, page, { headers })
  },
})

interface LogLinksProps {
  /** URL of the page. */
  readonly address: string
  readonly job: RunJob
  /** The attempt that the page shows; undefined for the newest one. */
  readonly attempt: number | undefined
  /** True if the browser loads the page again. */
  readonly isFollowed: boolean
}

function LogLinks({ address, job, attempt, isFollowed }: LogLinksProps): JSX.Element {
  const query = attemptQuery(attempt)
  return (
    <p class="file-line">
      {job.taskId !== undefined && (
        <a href={`${address}/logs${query}`} download={true}>
          Whole log
        </a>
      )}
      {isFollowed && (
        <a href={`${address}${query === '' ? '?' : `${query}&`}follow=0`}>
          Stop refreshing this page
        </a>
      )}
      {!isFollowed && !isFinal(job.status) && (
        <a href={`${address}${query}`}>Refresh this page continually</a>
      )}
    </p>
  )
}

interface JobOfPath {
  readonly run: Run
  readonly job: RunJob
  /** The attempt that the query names; undefined for the newest one. */
  readonly attempt: number | undefined
}

/** Returns the job that a path names, in the attempt that the query names. Throws `not_found`. */
async function jobOfPath(
  context: Context,
  { request, grant, params }: Pick<Call<'repository'>, 'request' | 'grant' | 'params'>,
): Promise<JobOfPath> {
  const run = await runOfPath(context, { grant, params })
  const attempt = earlierAttempt(request, run)
  const position = readId(params['position'] ?? '')
  const jobs = await listJobs(context.db, run.id, attempt)
  const job = jobs.find((candidate) => candidate.position === position)
  if (job === undefined) throw notFound()
  return { run, job, attempt }
}

const download = definePage<'repository'>({
  method: 'GET',
  path: `${PATH}/logs`,
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const { run, job } = await jobOfPath(context, { request, grant, params })
    return wholeLogReply(context, run, job)
  },
})

export const JOB_PAGES = [show, download]
