/** Event of an issue or a pull request as one line of its conversation. */

import type { Child, JSX } from 'preact/jsx-runtime'
import { findOwnersById, type Owner } from '../../../sql/accounts/owners.js'
import type { IssueEvent, IssueEventKind } from '../../../sql/issues/issue-events.js'
import { findIssuesById, type Issue } from '../../../sql/issues/issues.js'
import { findUsableLabels, type Label } from '../../../sql/issues/labels.js'
import { findMilestonesById, type Milestone } from '../../../sql/issues/milestones.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { issueUrl } from '../kit/links.js'
import { Author } from '../kit/person.js'
import { Ago } from '../kit/times.js'
import { LabelName } from './label-name.js'

/** Rows that the events of a page refer to, by their ids. */
export interface EventRows {
  readonly people: ReadonlyMap<number, Owner>
  readonly labels: ReadonlyMap<number, Label>
  readonly milestones: ReadonlyMap<number, Milestone>
  readonly issues: ReadonlyMap<number, Issue>
  readonly repositories: ReadonlyMap<number, Repository>
}

/** Reads the rows for all events of a page together. */
export async function readEventRows(
  { db }: Context,
  grant: RepositoryGrant,
  events: readonly IssueEvent[],
): Promise<EventRows> {
  const idsOf = (read: (event: IssueEvent) => readonly (number | undefined)[]) => [
    ...new Set(events.flatMap(read).filter((id) => id !== undefined)),
  ]
  const labelIds = idsOf(({ details }) => [details.labelId])
  const labels = await findUsableLabels(db, grant.repository.id, labelIds)
  const milestoneIds = idsOf(({ details }) => [details.milestoneId, details.oldMilestoneId])
  const issues = await findIssuesById(
    db,
    idsOf(({ otherIssueId }) => [otherIssueId]),
  )
  const repositoryIds = new Set(issues.map(({ repositoryId }) => repositoryId))
  const repositories = await findRepositoriesById(db, [...repositoryIds])
  return {
    people: await findOwnersById(
      db,
      idsOf(({ actorId, details }) => [actorId, details.assigneeId]),
    ),
    labels: byId(labels),
    milestones: await findMilestonesById(db, milestoneIds),
    issues: byId(issues),
    repositories: byId(repositories),
  }
}

function byId<T extends { readonly id: number }>(rows: readonly T[]): ReadonlyMap<number, T> {
  return new Map(rows.map((row) => [row.id, row]))
}

export interface EventLineProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly event: IssueEvent
  readonly rows: EventRows
}

export function EventLine(props: EventLineProps): JSX.Element {
  const { context, grant, event, rows } = props
  const base = context.settings.http.basePath
  return (
    <p class="quiet" id={`event-${event.id}`}>
      <Author base={base} person={rows.people.get(event.actorId ?? 0)} viewer={grant.user} />{' '}
      {deedOf(props)} <Ago atMs={event.createdAtMs} />
    </p>
  )
}

/** Descriptions of events that have no values to show. */
const DEEDS: Readonly<Partial<Record<IssueEventKind, string>>> = {
  close: 'closed this',
  reopen: 'reopened this',
  merge_pull: 'merged this',
  lock: 'locked the conversation',
  unlock: 'unlocked the conversation',
  pin: 'pinned this',
  unpin: 'unpinned this',
  review: 'reviewed this',
  dismiss_review: 'dismissed a review',
  start_tracking: 'started to track time',
  cancel_tracking: 'discarded the tracked time',
}

function deedOf({ context, grant, event, rows }: EventLineProps): Child {
  const { kind, details } = event
  const plain = DEEDS[kind]
  if (plain !== undefined) return plain
  const text = (value: string | undefined) => <Shown text={value ?? ''} />
  switch (kind) {
    case 'label': {
      const label = rows.labels.get(details.labelId ?? 0)
      const verb = details.body === '1' ? 'added' : 'removed'
      return label ? [`${verb} the label `, <LabelName label={label} />] : `${verb} a label`
    }
    case 'milestone': {
      const isSet = details.milestoneId !== undefined
      const id = details.milestoneId ?? details.oldMilestoneId ?? 0
      const verb = isSet ? 'set the milestone ' : 'removed the milestone '
      return [verb, text(rows.milestones.get(id)?.title ?? '(deleted)')]
    }
    case 'assignees':
    case 'review_request':
      return personDeed({ context, grant, event, rows })
    case 'change_title':
      return ['changed the title from ', text(details.oldTitle), ' to ', text(details.newTitle)]
    case 'change_issue_ref':
    case 'change_target_branch':
      return ['changed the branch from ', text(details.oldRef), ' to ', text(details.newRef)]
    case 'delete_branch':
      return ['deleted the branch ', text(details.oldRef)]
    case 'added_deadline':
    case 'modified_deadline':
      return `set the due date ${(details.body ?? '').split('|')[0]}`
    case 'removed_deadline':
      return `removed the due date ${details.body ?? ''}`
    case 'add_time_manual':
    case 'stop_tracking':
      return `spent ${details.body || '0 seconds'} on this`
    case 'delete_time_manual':
      return `deleted tracked time (${details.body ?? ''})`
    default:
      return otherDeed({ context, grant, event, rows })
  }
}

function personDeed({ context, grant, event, rows }: EventLineProps): Child {
  const { kind, details } = event
  const base = context.settings.http.basePath
  const isReview = kind === 'review_request'
  const verbs = isReview
    ? ['asked for a review of ', 'no longer asks ']
    : ['assigned ', 'unassigned ']
  const verb = verbs[details.isRemoved === true ? 1 : 0]
  if (details.assigneeId === undefined) return [verb, 'a team']
  const person = rows.people.get(details.assigneeId)
  return [verb, <Author base={base} person={person} viewer={grant.user} />]
}

/** Returns the deed of an event about another issue, with a link to it. */
function otherDeed({ context, event, rows }: EventLineProps): Child {
  const issue = rows.issues.get(event.otherIssueId ?? 0)
  const repository = rows.repositories.get(issue?.repositoryId ?? 0)
  const verb = OTHER_DEEDS[event.kind] ?? 'referred to this in'
  if (issue === undefined || repository === undefined) return `${verb} a deleted issue`
  const name = `${repository.owner.name}/${repository.name}#${issue.number}`
  return [
    `${verb} `,
    <a href={issueUrl(context, { repository }, issue)}>{name}</a>,
    ' ',
    <Shown text={issue.title} />,
  ]
}

const OTHER_DEEDS: Readonly<Partial<Record<IssueEventKind, string>>> = {
  add_dependency: 'linked the dependency between this and',
  remove_dependency: 'removed the dependency between this and',
}
