/** Adds and removes dependencies between issues, also of different repositories. */

import { notFound } from '../../../conf/failures.js'
import {
  addDependency,
  type DependencyQuery,
  removeDependency,
} from '../../../sql/issues/dependencies.js'
import { findIssue, type Issue } from '../../../sql/issues/issues.js'
import { atLeast, type RepositoryModes } from '../../../sql/repositories/access.js'
import { findRepository, type Repository } from '../../../sql/repositories/repositories.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { isServed, unitOfKind } from './issue-access.js'
import { issueChanged } from './issue-changed.js'

/** Name of an issue: its number and, for another repository, the owner and the repository. */
export interface IssueName {
  readonly index: number
  readonly owner?: string
  readonly repo?: string
}

/** An issue with its repository and the caller's access to it. */
interface Side {
  readonly issue: Issue
  readonly repository: Repository
  readonly modes: RepositoryModes
}

export interface DependencyChange {
  readonly action: 'add' | 'remove'
  /** Side of the named issue: `dependencies` if `issue` depends on it, otherwise `blocks`. */
  readonly side: DependencyQuery['side']
  /** Issue of the grant's repository. */
  readonly issue: Issue
  readonly named: IssueName
}

/**
 * Adds or removes the dependency between an issue and a named one. Throws `not_found` if the caller
 * cannot read the named issue or cannot write to the dependent issue, as Gitea does.
 */
export async function changeDependency(
  context: Context,
  grant: RepositoryGrant,
  { action, side, issue, named }: DependencyChange,
): Promise<void> {
  const actor = actingUserOf(grant)
  const { repository, modes } = grant
  const own: Side = { issue, repository, modes }
  const other = await namedSide(context, grant, named)
  const [target, dependency] = side === 'dependencies' ? [own, other] : [other, own]
  const isWriter = atLeast(target.modes[unitOfKind(target.issue.isPull)], 'write')
  if (!isWriter || target.repository.isArchived) throw notFound()
  const ids = { issueId: target.issue.id, dependencyId: dependency.issue.id }
  const change = action === 'add' ? addDependency : removeDependency
  await change(context.db, ids, actor.id)
  for (const each of [target, dependency]) {
    const { repository: of, issue: changed } = each
    await issueChanged(context, { repository: of, issue: changed, actor, actions: [] })
  }
}

/** Returns the named issue. Throws `not_found` also if the caller cannot read it. */
async function namedSide(
  context: Context,
  grant: RepositoryGrant,
  { index, owner, repo }: IssueName,
): Promise<Side> {
  const isHere = owner === undefined && repo === undefined
  const { repository: here } = grant
  const repository = isHere
    ? here
    : await findRepository(context.db, owner ?? here.owner.name, repo ?? here.name)
  if (repository === undefined) throw notFound()
  const issue = await findIssue(context.db, repository.id, index)
  if (issue === undefined || !isServed(repository, issue)) throw notFound()
  const isSame = repository.id === here.id
  const modes = isSame ? grant.modes : await accessToLinked(context.db, grant.who, repository)
  if (!atLeast(modes[unitOfKind(issue.isPull)], 'read')) throw notFound()
  return { issue, repository, modes }
}
