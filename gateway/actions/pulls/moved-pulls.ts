/** Open pull requests whose heads a push has moved. */

import { listPullsOfHeads } from '../../../sql/pulls/pull-lists.js'
import type { IssueAndPull } from '../../../sql/pulls/pulls.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import type { RefsChanged } from '../../request/events.js'

/** Maximum number of branches of one push whose pull requests are found. */
const BRANCHES_MAX = 20
/** Maximum number of pull requests whose heads one push has moved. */
const PULLS_MAX = 50

export interface MovedPull {
  /** Repository of the pull request, which can be another one than that of the push. */
  readonly base: Repository
  readonly entry: IssueAndPull
  /** Commit of the head after the push. */
  readonly after: string
}

/** Returns the open pull requests, in any repository, whose heads have moved. */
export async function listMovedPulls(
  { db }: Pick<Context, 'db'>,
  { repository, changes }: Pick<RefsChanged, 'repository' | 'changes'>,
): Promise<readonly MovedPull[]> {
  const tips = new Map<string, string>()
  for (const { name, before, after } of changes) {
    const [, branch] = /^refs\/heads\/(.+)$/.exec(name) ?? []
    // A branch that is created again has its pull requests changed too.
    if (branch !== undefined && after !== undefined && after !== before) tips.set(branch, after)
  }
  const branches = [...tips.keys()].slice(0, BRANCHES_MAX)
  const heads = { repositoryId: repository.id, branches }
  const moved = await listPullsOfHeads(db, heads, PULLS_MAX)
  const ids = new Set(moved.map(({ pull }) => pull.repositoryId))
  const bases = await findRepositoriesById(db, [...ids])
  return bases.flatMap((base) =>
    moved
      .filter(({ pull }) => pull.repositoryId === base.id)
      .map((entry) => ({ base, entry, after: tips.get(entry.pull.headBranch) ?? '' })),
  )
}
