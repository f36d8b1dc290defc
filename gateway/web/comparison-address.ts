/** Where two branches are compared. */

import type { Repository } from '../../sql/repositories.js'
import type { RepositoryGrant } from '../actions/git-reader.js'
import type { Context } from '../context.js'
import { addressOf } from './commits-page.js'

export interface ComparedBranch {
  /** What the repository was forked from, where the visitor may see it. */
  readonly parent: Repository | undefined
  readonly branch: string
}

/** Of the page that compares a branch with the default one, which for a fork is its parent's. */
export function comparisonAddress(
  context: Context,
  grant: RepositoryGrant,
  { parent, branch }: ComparedBranch,
): string | undefined {
  const { repository } = grant
  const { defaultBranch } = parent ?? repository
  if (parent === undefined) {
    if (branch === defaultBranch) return undefined
    return `${addressOf(context, grant)}/compare/${comparisonText(defaultBranch, branch)}`
  }
  const text = comparisonText(
    defaultBranch,
    `${repository.owner.name}/${repository.name}:${branch}`,
  )
  return `${addressOf(context, { ...grant, repository: parent })}/compare/${text}`
}

/** The part of an address that names two branches, percent-encoded. */
export function comparisonText(base: string, head: string): string {
  return `${base}...${head}`.split('/').map(encodeURIComponent).join('/')
}
