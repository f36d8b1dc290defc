/** The Milestone of this API. */

import { type Static, Type } from 'typebox'
import type { Milestone } from '../../../sql/issues/milestones.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'

export const MILESTONE = Type.Object(
  {
    id: Type.Integer(),
    title: Type.String(),
    description: Type.String(),
    state: Type.Enum(['open', 'closed']),
    open_issues: Type.Integer(),
    closed_issues: Type.Integer(),
    created_at: TIME,
    updated_at: nullable(TIME),
    closed_at: nullable(TIME),
    due_on: nullable(TIME),
  },
  { $id: 'Milestone' },
)

/** Returns a milestone, which is the same for all viewers. */
export function milestoneObject(milestone: Milestone): Static<typeof MILESTONE> {
  return {
    id: milestone.id,
    title: milestone.title,
    description: milestone.description,
    state: milestone.state,
    open_issues: milestone.openIssues,
    closed_issues: milestone.closedIssues,
    created_at: apiTime(milestone.createdAtMs),
    updated_at: apiTime(milestone.updatedAtMs),
    closed_at: timeOrNull(milestone.closedAtMs),
    due_on: timeOrNull(milestone.dueAtMs),
  }
}

function timeOrNull(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : apiTime(timeMs)
}
