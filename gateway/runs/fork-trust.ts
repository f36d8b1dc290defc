/** Trust in the authors of pull requests whose commits are of forks. */

import type { User } from '../../sql/accounts/users.js'
import { hasMergedPull } from '../../sql/pulls/pull-lists.js'
import { accessToRepository, atLeast } from '../../sql/repositories/access.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { Context } from '../request/context.js'

/** Age of an account below which its runs need approval. */
const NEW_ACCOUNT_MS = 86_400_000

/**
 * True if runs of a fork that these users have caused start without approval. Each of them may
 * write to the repository, or has a merged pull request in it. An earlier approval is no trust: it
 * was about other commits.
 */
export async function isTrusted(
  context: Pick<Context, 'db'>,
  repository: Repository,
  users: readonly (User | undefined)[],
): Promise<boolean> {
  for (const user of users) {
    if (user === undefined || !(await isTrustedUser(context, repository, user))) return false
  }
  return true
}

async function isTrustedUser(
  { db }: Pick<Context, 'db'>,
  repository: Repository,
  user: User,
): Promise<boolean> {
  if (atLeast((await accessToRepository(db, user, repository)).code, 'write')) return true
  if (!user.isActive || user.isLoginProhibited) return false
  const isNew = Date.now() - user.createdAtMs < NEW_ACCOUNT_MS
  return !isNew && (await hasMergedPull(db, repository.id, user.id))
}
