/** Labels, assignees, milestone and due date of an issue or a pull request. */

import type { JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import { assigneesOfIssues } from '../../../sql/issues/issue-people.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { type Label, labelsOfIssues } from '../../../sql/issues/labels.js'
import { findMilestonesById, type Milestone } from '../../../sql/issues/milestones.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { Author } from '../kit/person.js'
import { LabelName } from './label-name.js'

export interface ShownFacts {
  readonly labels: readonly Label[]
  readonly assignees: readonly User[]
  readonly milestone: Milestone | undefined
  readonly dueAtMs: number | undefined
}

export async function readFacts({ db }: Context, issue: Issue): Promise<ShownFacts> {
  const { id, milestoneId, dueAtMs } = issue
  const milestones = milestoneId === undefined ? [] : [milestoneId]
  return {
    labels: (await labelsOfIssues(db, [id])).get(id) ?? [],
    assignees: (await assigneesOfIssues(db, [id])).get(id) ?? [],
    milestone: (await findMilestonesById(db, milestones)).get(milestoneId ?? 0),
    dueAtMs,
  }
}

export interface IssueFactsProps {
  /** Base URL of the server. */
  readonly base: string
  readonly facts: ShownFacts
  readonly viewer: User | undefined
}

/** Renders the facts; null if there are none. */
export function IssueFacts({ base, facts, viewer }: IssueFactsProps): JSX.Element | null {
  const { labels, assignees, milestone, dueAtMs } = facts
  const rows = [
    { name: 'Labels', parts: labels.map((label) => <LabelName label={label} />) },
    {
      name: 'Assignees',
      parts: assignees.map((person) => <Author base={base} person={person} viewer={viewer} />),
    },
    { name: 'Milestone', parts: milestone ? [<Shown text={milestone.title} />] : [] },
    { name: 'Due', parts: dueAtMs === undefined ? [] : [<Day atMs={dueAtMs} />] },
  ].filter(({ parts }) => parts.length > 0)
  if (rows.length === 0) return null
  return (
    <dl class="facts">
      {rows.map(({ name, parts }) => (
        <div>
          <dt>{name}</dt>
          {parts.map((part) => (
            <dd>{part}</dd>
          ))}
        </div>
      ))}
    </dl>
  )
}

function Day({ atMs }: { readonly atMs: number }): JSX.Element {
  const day = new Date(atMs).toISOString().slice(0, 10)
  return <time datetime={day}>{day}</time>
}
