/** Comparison of two revisions over the API. */

import { Type } from 'typebox'
import { pageOfHistory } from '../../../cgi/objects/history.js'
import { withComparison } from '../../actions/code/compare-revisions.js'
import { COMMIT } from '../../objects/code/commit-schema.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { describeCommits } from './get-commits.js'

const COMPARE = Type.Object(
  { total_commits: Type.Integer(), commits: Type.Array(COMMIT) },
  { $id: 'Compare' },
)

/** Maximum number of commits in one comparison; `total_commits` counts all of them. */
const COMMITS_MAX = 500

const compare = defineOperation({
  id: 'repoCompareDiff',
  method: 'GET',
  path: '/repos/{owner}/{repo}/compare/{basehead...}',
  summary: 'Get commit comparison information',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: {
    owner: 'owner of the repo',
    repo: 'name of the repo',
    basehead: 'compare two branches or commits',
  },
  query: NO_QUERY,
  success: { status: 200, schema: COMPARE },
  failures: [404],
  async handle(context, { request, grant, params }) {
    const caller = { request, grant }
    const { signal } = request
    const answer = await withComparison(
      context,
      caller,
      params['basehead'] ?? '',
      async (found) => {
        const { reader, baseCommit: not, headCommit: from } = found
        const input = { from, not, offset: 0, limit: COMMITS_MAX, signal }
        const { ids, total } = await pageOfHistory(reader, input)
        const [total_commits, commits] = await Promise.all([
          total(),
          describeCommits(context, caller, { reader, ids }),
        ])
        return { total_commits, commits }
      },
    )
    return jsonReply(200, answer)
  },
})

export const COMPARE_OPERATIONS: readonly AnyOperation[] = [compare]
