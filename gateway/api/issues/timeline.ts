/** Timeline of an issue or a pull request over the API: its comments and events. */

import { Type } from 'typebox'
import { listTimeline } from '../../../sql/issues/timeline.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import { viewerOf } from '../../auth/refusals.js'
import { TIMELINE_COMMENT, timelineObjects } from '../../objects/issues/timeline-object.js'
import { readBounds } from '../../objects/times.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { TIME_QUERY } from './comments.js'
import { ISSUE_PARAMS } from './issue-params.js'

const list = defineOperation({
  id: 'issueGetCommentsAndTimeline',
  method: 'GET',
  path: '/repos/{owner}/{repo}/issues/{index}/timeline',
  summary: 'List all comments and events on an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: ISSUE_PARAMS,
  query: Type.Object({ ...TIME_QUERY, ...PAGE_QUERY }),
  success: { status: 200, schema: Type.Array(TIMELINE_COMMENT) },
  failures: [404, 422],
  async handle(context, { grant, params, query }) {
    const issue = await issueOf(context, grant, params)
    const page = pageOf(query)
    const bounds = readBounds(query)
    const viewer = viewerOf(grant.who)
    const { entries, total } = await listTimeline(context.db, issue.id, { ...bounds, viewer, page })
    const { owner, name } = grant.repository
    const path = `/repos/${owner.name}/${name}/issues/${issue.number}/timeline`
    const objects = await timelineObjects(context, grant, { issue, entries })
    const given = { since: query.since, before: query.before }
    return pageReply(context, objects, { path, query: given, page, total })
  },
})

export const TIMELINE_OPERATIONS: readonly AnyOperation[] = [list]
