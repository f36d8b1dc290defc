/** The PullRequestMeta of this API: fields of an issue that is a pull request. */

import { type Static, Type } from 'typebox'
import type { Issue } from '../../../sql/issues/issues.js'
import { findPulls } from '../../../sql/pulls/pulls.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { isDraft } from '../../actions/pulls/find-pull.js'
import type { Context } from '../../request/context.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'

export const PULL_REQUEST_META = Type.Object(
  {
    merged: Type.Boolean(),
    merged_at: nullable(TIME),
    draft: Type.Boolean(),
    html_url: Type.String(),
  },
  { $id: 'PullRequestMeta' },
)

type PullRequestMeta = Static<typeof PULL_REQUEST_META>

/** Returns the PullRequestMeta of each issue that is a pull request, by the issue's id. */
export async function pullRequestMetas(
  context: Context,
  issues: readonly Issue[],
  repositoryOf: (issue: Issue) => Repository,
): Promise<ReadonlyMap<number, PullRequestMeta>> {
  const { db, settings } = context
  const shown = issues.filter(({ isPull }) => isPull)
  const pulls = await findPulls(
    db,
    shown.map(({ id }) => id),
  )
  return new Map(
    shown.map((issue) => {
      const { owner, name } = repositoryOf(issue)
      const html_url = `${settings.http.baseUrl}/${owner.name}/${name}/pulls/${issue.number}`
      const mergedAtMs = pulls.get(issue.id)?.mergedAtMs
      const merged_at = mergedAtMs === undefined ? null : apiTime(mergedAtMs)
      const merged = merged_at !== null
      return [issue.id, { merged, merged_at, draft: isDraft(issue.title), html_url }]
    }),
  )
}
