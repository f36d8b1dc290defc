/** The TimelineComment of this API: a comment or an event of an issue or a pull request. */

import { type Static, Type } from 'typebox'
import { findOwnersById, type Owner } from '../../../sql/accounts/owners.js'
import { findComments } from '../../../sql/issues/comments.js'
import type { IssueEvent } from '../../../sql/issues/issue-events.js'
import { findIssuesById, type Issue } from '../../../sql/issues/issues.js'
import { findUsableLabels, type Label } from '../../../sql/issues/labels.js'
import { findMilestonesById, type Milestone } from '../../../sql/issues/milestones.js'
import type { TimelineEntry } from '../../../sql/issues/timeline.js'
import { findTrackedTimes } from '../../../sql/issues/tracked-times.js'
import { textsOfReviews } from '../../../sql/pulls/review-events.js'
import { findRepositoriesById } from '../../../sql/repositories/repositories.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { TEAM_OBJECT, type TeamObject, teamObjectsById } from '../organizations/team-object.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { COMMENT, commentObjects } from './comment-object.js'
import { foundIssueObjects, ISSUE } from './issue-object.js'
import { LABEL, labelObject } from './label-object.js'
import { MILESTONE, milestoneObject } from './milestone-object.js'
import { TRACKED_TIME, trackedTimeObjects } from './tracked-time-object.js'

export const TIMELINE_COMMENT = Type.Object(
  {
    id: Type.Integer(),
    type: Type.String({ description: 'comment, or the kind of the event' }),
    html_url: Type.String(),
    pull_request_url: Type.String({ description: 'empty under an issue' }),
    issue_url: Type.String({ description: 'empty under a pull request' }),
    user: USER_OBJECT,
    body: Type.String(),
    created_at: TIME,
    updated_at: TIME,
    old_project_id: Type.Integer(),
    project_id: Type.Integer(),
    old_milestone: nullable(MILESTONE),
    milestone: nullable(MILESTONE),
    tracked_time: nullable(TRACKED_TIME),
    old_title: Type.String(),
    new_title: Type.String(),
    old_ref: Type.String(),
    new_ref: Type.String(),
    ref_issue: nullable(ISSUE),
    ref_comment: nullable(COMMENT),
    ref_action: Type.String(),
    ref_commit_sha: Type.String({ description: 'commit that refers to the issue' }),
    review_id: Type.Integer(),
    label: nullable(LABEL),
    assignee: nullable(USER_OBJECT),
    assignee_team: nullable(TEAM_OBJECT),
    removed_assignee: Type.Boolean({ description: 'whether the assignee was removed' }),
    resolve_doer: nullable(USER_OBJECT),
    dependent_issue: nullable(ISSUE),
  },
  { $id: 'TimelineComment' },
)

type TimelineObject = Static<typeof TIMELINE_COMMENT>

/** Ids of events begin above those of comments, so that no two entries of a list share an id. */
const EVENT_IDS_FROM = 2 ** 40

type Grant = Pick<Grants['repository'], 'repository' | 'user'>

export interface Timeline {
  readonly issue: Issue
  readonly entries: readonly TimelineEntry[]
}

/** Rows and objects that the events of one page refer to, by their ids. */
interface Referred {
  readonly people: ReadonlyMap<number, Owner>
  readonly labels: ReadonlyMap<number, Label>
  readonly milestones: ReadonlyMap<number, Milestone>
  readonly teams: ReadonlyMap<number, TeamObject>
  readonly reviews: ReadonlyMap<number, string>
  readonly issues: ReadonlyMap<number, Static<typeof ISSUE>>
  readonly comments: ReadonlyMap<number, Static<typeof COMMENT>>
  readonly times: ReadonlyMap<number, Static<typeof TRACKED_TIME>>
}

/** Returns entries of the timeline of an issue as the caller sees them. */
export async function timelineObjects(
  context: Context,
  grant: Grant,
  { issue, entries }: Timeline,
): Promise<readonly TimelineObject[]> {
  const said = entries.flatMap((entry) => (entry.kind === 'comment' ? [entry.comment] : []))
  const events = entries.flatMap((entry) => (entry.kind === 'event' ? [entry.event] : []))
  const comments = new Map(
    (await commentObjects(context, grant, said)).map((comment) => [comment.id, comment]),
  )
  const referred = await readReferred(context, grant, events)
  return entries.flatMap((entry) => {
    if (entry.kind === 'event') {
      return [eventObject(context, grant, { event: entry.event, issue, referred })]
    }
    const comment = comments.get(entry.comment.id)
    if (comment === undefined) return []
    const { assets: _, original_author: _author, original_author_id: _id, ...fields } = comment
    return [{ ...NOTHING, ...fields, type: 'comment' }]
  })
}

async function readReferred(
  context: Context,
  grant: Grant,
  events: readonly IssueEvent[],
): Promise<Referred> {
  const { db } = context
  const idsOf = (read: (event: IssueEvent) => readonly (number | undefined)[]) => [
    ...new Set(events.flatMap(read).filter((id) => id !== undefined)),
  ]
  const details = (name: 'labelId' | 'teamId' | 'commentId' | 'trackedTimeId') =>
    idsOf((event) => [event.details[name]])
  const milestoneIds = idsOf((event) => [event.details.milestoneId, event.details.oldMilestoneId])
  const people = idsOf((event) => [event.actorId, event.details.assigneeId])
  const labels = await findUsableLabels(db, grant.repository.id, details('labelId'))
  const issues = await findIssuesById(
    db,
    idsOf((event) => [event.otherIssueId]),
  )
  const objects = await foundIssueObjects(context, issues, grant.user)
  const tracked = await findTrackedTimes(db, details('trackedTimeId'))
  const times = await trackedTimeObjects(context, tracked, grant.user)
  return {
    people: await findOwnersById(db, people),
    labels: new Map(labels.map((label) => [label.id, label])),
    milestones: await findMilestonesById(db, milestoneIds),
    teams: await teamObjectsById(context, details('teamId')),
    reviews: await textsOfReviews(
      db,
      idsOf((event) => [event.reviewId]),
    ),
    issues: new Map(objects.map((object) => [object.id, object])),
    times: new Map(times.map((time) => [time.id, time])),
    comments: await referringComments(context, grant, details('commentId')),
  }
}

/** Returns the comments that refer to an issue, which can be in other repositories. */
async function referringComments(
  context: Context,
  { user }: Grant,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Static<typeof COMMENT>>> {
  const found = [...(await findComments(context.db, ids)).values()]
  const repositories = new Set(found.map(({ repositoryId }) => repositoryId))
  const objects = new Map<number, Static<typeof COMMENT>>()
  for (const repository of await findRepositoriesById(context.db, [...repositories])) {
    const own = found.filter(({ repositoryId }) => repositoryId === repository.id)
    const shown = await commentObjects(context, { repository, user }, own)
    for (const object of shown) objects.set(object.id, object)
  }
  return objects
}

/** Values of the fields that an entry does not have. */
const NOTHING = {
  body: '',
  old_project_id: 0,
  project_id: 0,
  old_milestone: null,
  milestone: null,
  tracked_time: null,
  old_title: '',
  new_title: '',
  old_ref: '',
  new_ref: '',
  ref_issue: null,
  ref_comment: null,
  ref_action: 'none',
  ref_commit_sha: '',
  review_id: 0,
  label: null,
  assignee: null,
  assignee_team: null,
  removed_assignee: false,
  resolve_doer: null,
  dependent_issue: null,
} as const

interface EventView {
  readonly event: IssueEvent
  readonly issue: Issue
  readonly referred: Referred
}

function eventObject(
  context: Context,
  { repository, user }: Grant,
  { event, issue, referred }: EventView,
): TimelineObject {
  const { kind, details, reviewId } = event
  const { baseUrl } = context.settings.http
  const folder = issue.isPull ? 'pulls' : 'issues'
  const url = `${baseUrl}/${repository.owner.name}/${repository.name}/${folder}/${issue.number}`
  const at = apiTime(event.createdAtMs)
  const person = (id: number | undefined) =>
    personObject(context, referred.people.get(id ?? 0), user)
  const label = referred.labels.get(details.labelId ?? 0)
  const milestone = (id: number | undefined) => {
    const found = referred.milestones.get(id ?? 0)
    return found === undefined ? null : milestoneObject(found)
  }
  const other = referred.issues.get(event.otherIssueId ?? 0) ?? null
  return {
    ...NOTHING,
    id: EVENT_IDS_FROM + event.id,
    type: kind,
    html_url: `${url}#event-${event.id}`,
    pull_request_url: issue.isPull ? url : '',
    issue_url: issue.isPull ? '' : url,
    user: person(event.actorId),
    body: (kind === 'review' ? referred.reviews.get(reviewId ?? 0) : details.body) ?? '',
    created_at: at,
    updated_at: at,
    old_milestone: milestone(details.oldMilestoneId),
    milestone: milestone(details.milestoneId),
    tracked_time: referred.times.get(details.trackedTimeId ?? 0) ?? null,
    old_title: details.oldTitle ?? '',
    new_title: details.newTitle ?? '',
    old_ref: details.oldRef ?? '',
    new_ref: details.newRef ?? '',
    ref_issue: kind.endsWith('_ref') ? other : null,
    ref_comment: referred.comments.get(details.commentId ?? 0) ?? null,
    review_id: reviewId ?? 0,
    label: label === undefined ? null : labelObject(context, label, repository),
    assignee: details.assigneeId === undefined ? null : person(details.assigneeId),
    assignee_team: referred.teams.get(details.teamId ?? 0) ?? null,
    removed_assignee: details.isRemoved ?? false,
    dependent_issue: kind.endsWith('_dependency') ? other : null,
  }
}
