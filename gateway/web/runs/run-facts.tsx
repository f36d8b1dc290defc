/** Facts about a run in one line: workflow, event, ref, commit, user and times. */

import type { JSX } from 'preact/jsx-runtime'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { RunJob } from '../../../sql/runs/run-jobs.js'
import type { Run } from '../../../sql/runs/runs.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { Author } from '../kit/person.js'
import { Ago } from '../kit/times.js'
import { Duration } from './run-status.js'

export interface RunFactsProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly run: Run
  readonly actors: ReadonlyMap<number, Owner>
}

export function RunFacts({ context, grant, run, actors }: RunFactsProps): JSX.Element {
  const { workflowName, number, event, reference, commitId, actorId, createdAtMs } = run
  return (
    <p class="quiet">
      <Shown text={workflowName} />
      {` #${number} · ${event} · `}
      {run.pull === undefined ? (
        <code>
          <Shown text={shortReference(reference)} />
        </code>
      ) : (
        <a href={`${repositoryUrl(context, grant)}/pulls/${run.pull.number}`}>
          {`#${run.pull.number}`}
        </a>
      )}
      {' · '}
      <a href={`${repositoryUrl(context, grant)}/commit/${commitId}`}>
        <code>{commitId.slice(0, 10)}</code>
      </a>
      {' · '}
      <Author
        base={context.settings.http.basePath}
        person={actors.get(actorId ?? 0)}
        viewer={grant.user}
      />{' '}
      <Ago atMs={createdAtMs} /> <Duration {...run} />
    </p>
  )
}

/** Returns the title of a run; the name of its workflow's file if the title is empty. */
export function titleOfRun({ title, workflowFile }: Run): string {
  return title.trim() === '' ? workflowFile : title
}

/** Returns the name of a job; its key if the name is empty. */
export function titleOfJob({ name, key }: RunJob): string {
  return name.trim() === '' ? key : name
}

function shortReference(reference: string): string {
  return reference.replace(/^refs\/(?:heads\/|tags\/)?/, '')
}
