/** Labels, assignees, milestone, due date and dependencies of an issue or a pull request. */

import type { JSX } from 'preact/jsx-runtime'
import type { User } from '../../../sql/accounts/users.js'
import { type DependencyQuery, listDependencies } from '../../../sql/issues/dependencies.js'
import { assigneesOfIssues } from '../../../sql/issues/issue-people.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { type Label, labelsOfIssues } from '../../../sql/issues/labels.js'
import { findMilestonesById, type Milestone } from '../../../sql/issues/milestones.js'
import { pinPositions } from '../../../sql/issues/pins.js'
import { findRepositoriesById } from '../../../sql/repositories/repositories.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { viewerOf } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { issueUrl } from '../kit/links.js'
import { Author } from '../kit/person.js'
import { LabelName } from './label-name.js'

export interface ShownFacts {
  readonly labels: readonly Label[]
  readonly assignees: readonly User[]
  readonly milestone: Milestone | undefined
  readonly dueAtMs: number | undefined
  readonly isPinned: boolean
  readonly dependencies: readonly LinkedIssue[]
  readonly blocks: readonly LinkedIssue[]
}

/** Issue of any repository, with its address. */
export interface LinkedIssue {
  readonly issue: Issue
  readonly name: string
  readonly address: string
}

export async function readFacts(
  context: Context,
  grant: RepositoryGrant,
  issue: Issue,
): Promise<ShownFacts> {
  const { db } = context
  const { id, milestoneId, dueAtMs } = issue
  const milestones = milestoneId === undefined ? [] : [milestoneId]
  return {
    labels: (await labelsOfIssues(db, [id])).get(id) ?? [],
    assignees: (await assigneesOfIssues(db, [id])).get(id) ?? [],
    milestone: (await findMilestonesById(db, milestones)).get(milestoneId ?? 0),
    dueAtMs,
    isPinned: (await pinPositions(db, [id])).has(id),
    dependencies: await readLinked(context, grant, { id, side: 'dependencies' }),
    blocks: await readLinked(context, grant, { id, side: 'blocks' }),
  }
}

const LINKED_SHOWN = 20

/** Reads the issues on one side of the dependencies, as far as the caller can read them. */
async function readLinked(
  context: Context,
  grant: RepositoryGrant,
  { id, side }: { readonly id: number; readonly side: DependencyQuery['side'] },
): Promise<readonly LinkedIssue[]> {
  const { db } = context
  const page = { page: 1, limit: LINKED_SHOWN }
  const shown = { side, viewer: viewerOf(grant.who), page }
  const { entries } = await listDependencies(db, id, shown)
  const ids = new Set(entries.map(({ repositoryId }) => repositoryId))
  const repositories = await findRepositoriesById(db, [...ids])
  return entries.flatMap((issue) => {
    const repository = repositories.find((found) => found.id === issue.repositoryId)
    if (repository === undefined) return []
    const name = `${repository.owner.name}/${repository.name}#${issue.number}`
    return [{ issue, name, address: issueUrl(context, { repository }, issue) }]
  })
}

export interface IssueFactsProps {
  /** Path of the site, without a slash at the end. */
  readonly base: string
  readonly facts: ShownFacts
  readonly viewer: User | undefined
}

/** Renders the facts; null if there are none. */
export function IssueFacts({ base, facts, viewer }: IssueFactsProps): JSX.Element | null {
  const { labels, assignees, milestone, dueAtMs, dependencies, blocks } = facts
  const rows = [
    { name: 'Labels', parts: labels.map((label) => <LabelName label={label} />) },
    {
      name: 'Assignees',
      parts: assignees.map((person) => <Author base={base} person={person} viewer={viewer} />),
    },
    { name: 'Milestone', parts: milestone ? [<Shown text={milestone.title} />] : [] },
    { name: 'Due', parts: dueAtMs === undefined ? [] : [<Day atMs={dueAtMs} />] },
    { name: 'Depends on', parts: dependencies.map(linkOf) },
    { name: 'Blocks', parts: blocks.map(linkOf) },
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

function linkOf({ issue, name, address }: LinkedIssue): JSX.Element {
  return (
    <>
      <a href={address}>{name}</a> <Shown text={issue.title} /> {`(${issue.state})`}
    </>
  )
}

function Day({ atMs }: { readonly atMs: number }): JSX.Element {
  const day = new Date(atMs).toISOString().slice(0, 10)
  return <time datetime={day}>{day}</time>
}
