/** Events of a change to the fields of an issue. */

import type { IssueEventKind, NewIssueEvent } from './issue-events.js'

/** Fields of an issue whose changes are events. */
interface Fields {
  readonly id: number
  readonly title: string
  readonly ref: string
  readonly milestoneId: number | undefined
  readonly dueAtMs: number | undefined
  readonly isLocked: boolean
  readonly state: 'open' | 'closed'
}

/** Changes to these fields; absent fields keep their value, and null clears it. */
interface FieldsPatch {
  readonly title?: string | undefined
  readonly ref?: string | undefined
  readonly milestoneId?: number | null | undefined
  readonly dueAtMs?: number | null | undefined
  readonly isLocked?: boolean | undefined
  readonly lockReason?: string | undefined
  readonly state?: 'open' | 'closed' | undefined
  readonly isMerged?: boolean
  readonly actorId?: number | undefined
}

interface Update {
  readonly before: Fields
  readonly assigned: readonly number[]
  readonly unassigned: readonly number[]
}

/** Returns the events of the changes that a patch made to an issue. */
export function eventsOfUpdate(patch: FieldsPatch, update: Update): readonly NewIssueEvent[] {
  const { before, assigned, unassigned } = update
  const from = { issueId: before.id, actorId: patch.actorId }
  const people = [
    ...unassigned.map((assigneeId) => ({ assigneeId, isRemoved: true })),
    ...assigned.map((assigneeId) => ({ assigneeId })),
  ]
  return [
    ...textEvents(patch, before),
    ...people.map((details) => ({ kind: 'assignees' as const, details })),
    ...stateEvents(patch, before),
  ].map((event) => ({ ...from, ...event }))
}

type EventPart = Pick<NewIssueEvent, 'kind' | 'details'>

function textEvents(patch: FieldsPatch, before: Fields): readonly EventPart[] {
  const events: EventPart[] = []
  const { title = before.title, ref = before.ref } = patch
  if (title !== before.title) {
    events.push({ kind: 'change_title', details: { oldTitle: before.title, newTitle: title } })
  }
  if (ref !== before.ref) {
    events.push({ kind: 'change_issue_ref', details: { oldRef: before.ref, newRef: ref } })
  }
  const milestoneId = patch.milestoneId === undefined ? before.milestoneId : patch.milestoneId
  if ((milestoneId ?? undefined) !== before.milestoneId) {
    const details = { oldMilestoneId: before.milestoneId, milestoneId: milestoneId ?? undefined }
    events.push({ kind: 'milestone', details })
  }
  return events
}

function stateEvents(patch: FieldsPatch, before: Fields): readonly EventPart[] {
  const events: EventPart[] = []
  if (patch.dueAtMs !== undefined && (patch.dueAtMs ?? undefined) !== before.dueAtMs) {
    events.push(deadlineEvent(patch.dueAtMs, before.dueAtMs))
  }
  if (patch.isLocked !== undefined && patch.isLocked !== before.isLocked) {
    const details = { body: patch.lockReason ?? '' }
    events.push({ kind: patch.isLocked ? 'lock' : 'unlock', details })
  }
  if (patch.state !== undefined && patch.state !== before.state) {
    events.push({ kind: stateKind(patch) })
  }
  return events
}

function stateKind({ state, isMerged }: FieldsPatch): IssueEventKind {
  if (state === 'open') return 'reopen'
  return isMerged === true ? 'merge_pull' : 'close'
}

/** Returns the event of a new due date; its text has the new day and the old one, as in Gitea. */
function deadlineEvent(afterMs: number | null, beforeMs: number | undefined): EventPart {
  if (afterMs === null) return { kind: 'removed_deadline', details: { body: dayOf(beforeMs) } }
  if (beforeMs === undefined) return { kind: 'added_deadline', details: { body: dayOf(afterMs) } }
  return { kind: 'modified_deadline', details: { body: `${dayOf(afterMs)}|${dayOf(beforeMs)}` } }
}

function dayOf(timeMs = 0): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}
