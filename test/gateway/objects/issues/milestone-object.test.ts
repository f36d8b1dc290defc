/** Milestone objects. */

import t from 'tap'
import { milestoneObject } from '../../../../gateway/objects/issues/milestone-object.js'

t.test('times that are not set are null', async (t) => {
  const milestone = {
    id: 1,
    repositoryId: 2,
    title: 'v1',
    description: 'd',
    state: 'open' as const,
    openIssues: 3,
    closedIssues: 4,
    createdAtMs: 0,
    updatedAtMs: 1_999,
  }
  const never = { dueAtMs: undefined, closedAtMs: undefined }
  t.strictSame(milestoneObject({ ...milestone, ...never }), {
    id: 1,
    title: 'v1',
    description: 'd',
    state: 'open',
    open_issues: 3,
    closed_issues: 4,
    created_at: '1970-01-01T00:00:00Z',
    updated_at: '1970-01-01T00:00:01Z',
    closed_at: null,
    due_on: null,
  })
  t.match(milestoneObject({ ...milestone, dueAtMs: 0, closedAtMs: 0 }), {
    closed_at: '1970-01-01T00:00:00Z',
    due_on: '1970-01-01T00:00:00Z',
  })
})
