/** Page of a workflow run: its jobs in stages, and a form that cancels it. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { listRunArtifacts } from '../../../sql/runs/artifacts.js'
import type { RunJob } from '../../../sql/runs/run-jobs.js'
import { isFinal } from '../../../sql/runs/statuses.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import { approveRun } from '../../runs/approve-run.js'
import { zipUrl } from '../../runs/artifact-uploads.js'
import { cancelRun } from '../../runs/cancel-run.js'
import { readAttempt } from '../../runs/read-attempt.js'
import { whyNoRerun } from '../../runs/rerun-run.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, redirectTo } from '../kit/page.js'
import { Author } from '../kit/person.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { ArtifactList } from './artifact-list.js'
import { GroupNotice } from './group-notice.js'
import { stagesOf } from './job-stages.js'
import { readSummaries, Summaries } from './job-summaries.js'
import { findMissingLabels, MissingLabels } from './missing-labels.js'
import { RerunForms, RerunJob } from './rerun-pages.js'
import { AttemptLinks, attemptQuery, earlierAttempt } from './run-attempts.js'
import { RunFacts, titleOfJob, titleOfRun } from './run-facts.js'
import { runOfPath } from './run-of-path.js'
import { Duration, Status } from './run-status.js'

const PATH = '/{owner}/{repo}/actions/runs/{number}'

/** Number of artifacts on the page; the API lists all. */
const LISTED_ARTIFACTS = 100

/** Maximum size of the summaries on the page; those of a job are on its page. */
const SUMMARIES_BYTES_MAX = 262_144

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'repository', mode: 'read', unit: 'actions' },
  async handle(context, { request, grant, params }) {
    const run = await runOfPath(context, { grant, params })
    const attempt = earlierAttempt(request, run)
    const actorIds = [run.actorId ?? [], run.rerunActorId ?? []].flat()
    const actors = await findOwnersById(context.db, actorIds)
    const { jobs, status } = await readAttempt(context.db, run, attempt)
    const isWriter = atLeast(grant.mode, 'write')
    const isRepeatable = isWriter && attempt === undefined && whyNoRerun(run) === undefined
    const waiting = jobs.flatMap(({ status, labels }) => (status === 'waiting' ? [labels] : []))
    const missing = await findMissingLabels(context, grant.repository, waiting)
    const bytesMax = SUMMARIES_BYTES_MAX
    const summaries = await readSummaries(context, grant, { jobs, bytesMax })
    const artifacts = await listRunArtifacts(context.db, run.id, { limit: LISTED_ARTIFACTS })
    const address = `${repositoryUrl(context, grant)}/actions/runs/${run.number}`
    const title = titleOfRun(run)
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="actions" title={title}>
        <h2>
          <Shown text={title} /> <Status status={status} />
        </h2>
        <RunFacts context={context} grant={grant} run={run} actors={actors} />
        {attempt === undefined && run.attempt > 1 && (
          <p class="quiet">
            {`Attempt ${run.attempt}, for which `}
            <Author
              base={context.settings.http.basePath}
              person={actors.get(run.rerunActorId ?? 0)}
              viewer={grant.user}
            />
            {' asked'}
          </p>
        )}
        <AttemptLinks address={address} run={run} shown={attempt} />
        <GroupNotice of={{ ...run, status }} />
        <MissingLabels lists={missing} />
        {run.fault !== '' && (
          <p class="error">
            <Shown text={run.fault} />
          </p>
        )}
        {stagesOf(jobs).map((stage, at) => (
          <section>
            <h3>{`Stage ${at + 1}`}</h3>
            <JobList
              address={address}
              query={attemptQuery(attempt)}
              jobs={stage}
              isRepeatable={isRepeatable}
            />
          </section>
        ))}
        {isRepeatable && <RerunForms address={address} jobs={jobs} />}
        <ArtifactList address={address} run={run} artifacts={artifacts} />
        <Summaries shown={summaries} hasTitles={true} />
        {run.needsApproval && !isFinal(run.status) && (
          <p class="notice">
            The commit is of a fork, and its author is not known here. The jobs begin when a user
            who may write to the repository has approved this run.
          </p>
        )}
        {isWriter && run.needsApproval && !isFinal(run.status) && (
          <form method="post" action={`${address}/approve`}>
            <button type="submit">Approve and run</button>
          </form>
        )}
        {isWriter && !isFinal(run.status) && (
          <form method="post" action={`${address}/cancel`}>
            <button type="submit" class="danger">
              Cancel
            </button>
          </form>
        )}
      </RepositoryDocument>,
    )
  },
})

interface JobListProps {
  /** URL of the run. */
  readonly address: string
  /** Query of the attempt that the page shows. */
  readonly query: string
  readonly jobs: readonly RunJob[]
  /** True if the visitor may repeat jobs. */
  readonly isRepeatable: boolean
}

function JobList({ address, query, jobs, isRepeatable }: JobListProps): JSX.Element {
  return (
    <ul class="list">
      {jobs.map((job) => (
        <li>
          <div class="grow">
            <a class="strong" href={`${address}/jobs/${job.position}${query}`}>
              <Shown text={titleOfJob(job)} />
            </a>{' '}
            <Duration {...job} />
            <GroupNotice of={job} />
            {job.reason !== '' && (
              <p class="quiet">
                <Shown text={job.reason} />
              </p>
            )}
          </div>
          <Status status={job.status} />
          {isRepeatable && <RerunJob address={address} job={job} />}
        </li>
      ))}
    </ul>
  )
}

const cancel = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/cancel`,
  access: { kind: 'repository', mode: 'write', unit: 'actions' },
  async handle(context, { grant, params }) {
    const run = await runOfPath(context, { grant, params })
    if (!isFinal(run.status)) await cancelRun(context, run)
    const { owner, name } = grant.repository
    return redirectTo(context, `/${owner.name}/${name}/actions/runs/${run.number}`)
  },
})

const approve = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/approve`,
  access: { kind: 'repository', mode: 'write', unit: 'actions' },
  async handle(context, { grant, params }) {
    const run = await runOfPath(context, { grant, params })
    await approveRun(context, run, actingUserOf(grant))
    const { owner, name } = grant.repository
    return redirectTo(context, `/${owner.name}/${name}/actions/runs/${run.number}`)
  },
})

const download = definePage<'repository'>({
  method: 'GET',
  path: `${PATH}/artifacts/{artifact}`,
  access: { kind: 'repository', mode: 'read', unit: 'actions' },
  async handle(context, { grant, params }) {
    const run = await runOfPath(context, { grant, params })
    const id = readId(params['artifact'] ?? '') ?? 0
    const [artifact] = await listRunArtifacts(context.db, run.id, { id, limit: 1 })
    if (artifact === undefined) throw notFound()
    const location = ['Location', await zipUrl(context, artifact)] as const
    return { status: 303, headers: [location, ['Cache-Control', 'no-store']] }
  },
})

export const RUN_PAGES = [show, cancel, approve, download]
