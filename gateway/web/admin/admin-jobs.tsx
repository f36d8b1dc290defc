/** Administration, Jobs: lists waiting, running and failed jobs, and retries failed ones. */

import type { JSX } from 'preact/jsx-runtime'
import { type ListedJob, listJobs, retryJob } from '../../../sql/admin/job-lists.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, pageNumber, readForm, redirectTo } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { Ago } from '../kit/times.js'
import { ADMIN_ACCESS, AdminDocument } from './admin-document.js'

const PATH = '/admin/jobs'
const LISTED = 50

interface JobTableProps {
  readonly address: string
  readonly jobs: readonly ListedJob[]
}

function JobTable({ address, jobs }: JobTableProps): JSX.Element {
  if (jobs.length === 0) return <p class="empty">There are no jobs.</p>
  return (
    <table class="figures">
      <caption class="unseen">Jobs</caption>
      <thead>
        <tr>
          {['Kind', 'Subject', 'State', 'Attempts', 'Due', 'Last error', 'Retry'].map((word) => (
            <th scope="col">{word}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr>
            <td>{job.kind}</td>
            <td>
              <Shown text={job.subject} />
            </td>
            <td>{job.state}</td>
            <td>{job.attempts}</td>
            <td>
              <Ago atMs={job.dueAtMs} />
            </td>
            <td>
              <Shown text={job.lastError ?? ''} />
            </td>
            <td>{job.state === 'failed' && <RetryForm address={address} job={job} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface RetryFormProps {
  readonly address: string
  readonly job: ListedJob
}

function RetryForm({ address, job }: RetryFormProps): JSX.Element {
  return (
    <form method="post" action={`${address}/retry`}>
      <input type="hidden" name="id" value={String(job.id)} />
      <button type="submit" class="plain" aria-label={`Retry ${job.kind} ${job.subject} now`}>
        Retry now
      </button>
    </form>
  )
}

const list = definePage<'admin'>({
  method: 'GET',
  path: PATH,
  access: ADMIN_ACCESS,
  async handle(context, { request, grant: { user } }) {
    const page = { page: pageNumber(request), limit: LISTED }
    const { entries, total } = await listJobs(context.db, page)
    const address = context.settings.http.basePath + PATH
    return htmlReply(
      request,
      <AdminDocument context={context} user={user} tab="jobs">
        <section>
          <h2>Jobs</h2>
          <p class="quiet">
            A job that fails is retried after increasing delays, up to a maximum number of attempts.
          </p>
          <JobTable address={address} jobs={entries} />
          <Pager address={address} page={page} total={total} />
        </section>
      </AdminDocument>,
    )
  },
})

const retry = definePage<'admin'>({
  method: 'POST',
  path: `${PATH}/retry`,
  access: ADMIN_ACCESS,
  async handle(context, { request }) {
    const id = readId(fieldOf(await readForm(request), 'id'))
    if (id !== undefined) await retryJob(context.db, id)
    return redirectTo(context, PATH)
  },
})

export const ADMIN_JOBS_PAGES = [list, retry]
