/** Summaries of the steps of jobs, rendered. */

import type { JSX } from 'preact/jsx-runtime'
import type { RunJob } from '../../../sql/runs/run-jobs.js'
import { listSummaries } from '../../../sql/runs/step-summaries.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { drawWritten, Written, type WrittenTexts } from '../issues/written.js'
import { titleOfJob } from './run-facts.js'

/** Summaries of a page. */
export interface ShownSummaries {
  /** Texts of the jobs that have summaries. */
  readonly jobs: readonly { readonly job: RunJob; readonly texts: readonly string[] }[]
  readonly drawn: WrittenTexts
  /** True if some are not on the page. */
  readonly isCut: boolean
}

/** Reads and renders the summaries of jobs, up to `bytesMax`. */
export async function readSummaries(
  context: Context,
  grant: RepositoryGrant,
  { jobs, bytesMax }: { readonly jobs: readonly RunJob[]; readonly bytesMax: number },
): Promise<ShownSummaries> {
  const taskIds = jobs.flatMap(({ taskId }) => taskId ?? [])
  const { summaries, isCut } = await listSummaries(context.db, taskIds, bytesMax)
  const texts = summaries.map(({ content }) => content)
  const shown = jobs.map((job) => ({
    job,
    texts: summaries.filter(({ taskId }) => taskId === job.taskId).map(({ content }) => content),
  }))
  return {
    jobs: shown.filter(({ texts }) => texts.length > 0),
    drawn: await drawWritten(context, grant, { texts, headingsBelow: 4 }),
    isCut,
  }
}

interface SummariesProps {
  readonly shown: ShownSummaries
  /** True if the page is about more than one job. */
  readonly hasTitles: boolean
}

/** Renders the summaries; nothing if there are none. */
export function Summaries({ shown, hasTitles }: SummariesProps): JSX.Element | null {
  const { jobs, drawn, isCut } = shown
  if (jobs.length === 0 && !isCut) return null
  return (
    <section>
      <h3>Summary</h3>
      {jobs.map(({ job, texts }) => (
        <>
          {hasTitles && (
            <h4>
              <Shown text={titleOfJob(job)} />
            </h4>
          )}
          {texts.map((text) => (
            <Written text={text} drawn={drawn} />
          ))}
        </>
      ))}
      {isCut && <p class="notice">The pages of the jobs have further summaries.</p>}
    </section>
  )
}
