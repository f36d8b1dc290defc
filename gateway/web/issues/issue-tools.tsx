/** Forms of an issue or a pull request for dependencies, the pin, times and the stopwatch. */

import type { JSX } from 'preact/jsx-runtime'
import { findOwnersById, type Owner } from '../../../sql/accounts/owners.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { listStopwatches } from '../../../sql/issues/stopwatches.js'
import {
  durationText,
  listTrackedTimes,
  type TrackedTime,
} from '../../../sql/issues/tracked-times.js'
import { atLeast } from '../../../sql/repositories/access.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { mayChange, mayWrite } from '../../actions/issues/issue-access.js'
import { viewerOf } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { Author } from '../kit/person.js'
import { TextField } from '../kit/text-field.js'
import { Ago } from '../kit/times.js'
import type { LinkedIssue, ShownFacts } from './issue-facts.js'

/** Times that a caller can see, and which changes the caller may make. */
export interface ShownTools {
  /** Path of the targets of the forms. */
  readonly address: string
  readonly isWriter: boolean
  readonly isAdmin: boolean
  readonly isStopwatchRunning: boolean
  readonly times: readonly TrackedTime[]
  readonly people: ReadonlyMap<number, Owner>
}

const TIMES_SHOWN = 20

/** Reads what the forms show; undefined if the caller can change nothing. */
export async function readTools(
  context: Context,
  grant: RepositoryGrant,
  { issue, facts }: { readonly issue: Issue; readonly facts: ShownFacts },
): Promise<ShownTools | undefined> {
  const { user, repository } = grant
  const tracksTime = mayChange(grant, issue) || facts.assignees.some(({ id }) => id === user?.id)
  if (user === undefined || repository.isArchived || !tracksTime) return undefined
  const { db } = context
  const viewer = viewerOf(grant.who)
  const isWriter = mayWrite(grant)
  const { entries: times } = await listTrackedTimes(db, {
    issueId: issue.id,
    userId: isWriter ? undefined : user.id,
    viewer,
    page: { page: 1, limit: TIMES_SHOWN },
  })
  // A user has at most one stopwatch.
  const running = await listStopwatches(db, user.id, { viewer, page: { page: 1, limit: 1 } })
  return {
    address: `${repositoryUrl(context, grant)}/issues/${issue.number}`,
    isWriter,
    isAdmin: atLeast(grant.modes.any, 'admin'),
    isStopwatchRunning: running.entries[0]?.issueId === issue.id,
    times,
    people: await findOwnersById(
      db,
      times.map(({ userId }) => userId),
    ),
  }
}

export interface IssueToolsProps {
  /** Path of the site, without a slash at the end. */
  readonly base: string
  readonly grant: RepositoryGrant
  readonly facts: ShownFacts
  readonly tools: ShownTools | undefined
}

export function IssueTools({ base, grant, facts, tools }: IssueToolsProps): JSX.Element | null {
  if (tools === undefined) return null
  return (
    <details class="tools">
      <summary>Dependencies, pin and time</summary>
      {tools.isWriter && <DependencyForms facts={facts} tools={tools} />}
      {tools.isAdmin && <PinForm facts={facts} tools={tools} />}
      <Times base={base} grant={grant} tools={tools} />
    </details>
  )
}

interface FormsProps {
  readonly facts: ShownFacts
  readonly tools: ShownTools
}

function DependencyForms({ facts, tools: { address } }: FormsProps): JSX.Element {
  const linked = [
    ...facts.dependencies.map((issue) => ({ ...issue, side: 'dependencies', word: 'Depends on' })),
    ...facts.blocks.map((issue) => ({ ...issue, side: 'blocks', word: 'Blocks' })),
  ]
  return (
    <section>
      <h3>Dependencies</h3>
      <ul class="list">
        {linked.map(({ name, side, word }) => (
          <LinkedRow address={address} name={name} side={side} word={word} />
        ))}
      </ul>
      <form method="post" action={`${address}/dependencies`}>
        <label for="side">Relation</label>
        <select id="side" name="side">
          <option value="dependencies">Depends on</option>
          <option value="blocks">Blocks</option>
        </select>
        <TextField
          label="Issue or pull request: #3 or owner/repository#3"
          name="issue"
          charactersMax={255}
          isRequired={true}
        />
        <button type="submit">Add the dependency</button>
      </form>
    </section>
  )
}

interface LinkedRowProps extends Pick<LinkedIssue, 'name'> {
  readonly address: string
  readonly side: string
  readonly word: string
}

function LinkedRow({ address, name, side, word }: LinkedRowProps): JSX.Element {
  return (
    <li>
      <span class="grow">{`${word} ${name}`}</span>
      <form method="post" action={`${address}/dependencies/remove`}>
        <input type="hidden" name="side" value={side} />
        <input type="hidden" name="issue" value={name} />
        <button type="submit" class="danger" aria-label={`Remove: ${word} ${name}`}>
          Remove
        </button>
      </form>
    </li>
  )
}

function PinForm({ facts: { isPinned }, tools: { address } }: FormsProps): JSX.Element {
  return (
    <form method="post" action={`${address}/pin${isPinned ? '/remove' : ''}`}>
      <h3>Pin</h3>
      <button type="submit" class="secondary">
        {isPinned ? 'Unpin from the top of the list' : 'Pin to the top of the list'}
      </button>
    </form>
  )
}

function Times({ base, grant, tools }: Omit<IssueToolsProps, 'facts'> & { tools: ShownTools }) {
  const { address, times, people, isWriter, isStopwatchRunning } = tools
  return (
    <section>
      <h3>Time</h3>
      <ul class="list">
        {times.map(({ id, userId, seconds, createdAtMs }) => (
          <li>
            <span class="grow">
              {`${durationText(seconds)} by `}
              <Author base={base} person={people.get(userId)} viewer={grant.user} />{' '}
              <Ago atMs={createdAtMs} />
            </span>
            {(userId === grant.user?.id || grant.user?.isAdmin) && (
              <form method="post" action={`${address}/times/delete`}>
                <input type="hidden" name="id" value={String(id)} />
                <button
                  type="submit"
                  class="danger"
                  aria-label={`Delete ${durationText(seconds)} (time ${id})`}
                >
                  Delete
                </button>
              </form>
            )}
          </li>
        ))}
      </ul>
      <form method="post" action={`${address}/times`}>
        <TextField label="Hours" name="hours" charactersMax={6} />
        <TextField label="Minutes" name="minutes" charactersMax={6} />
        <button type="submit">Add time</button>
      </form>
      {isWriter && (
        <form method="post" action={`${address}/stopwatch${isStopwatchRunning ? '/stop' : ''}`}>
          <button type="submit" class="secondary">
            {isStopwatchRunning ? 'Stop the stopwatch' : 'Start the stopwatch'}
          </button>
        </form>
      )}
      {isWriter && isStopwatchRunning && (
        <form method="post" action={`${address}/stopwatch/delete`}>
          <button type="submit" class="secondary">
            Discard the stopwatch
          </button>
        </form>
      )}
    </section>
  )
}
