/** Creation of forks: first a copy of the Git data, then the row. */

import { forkRepository } from '../../../cgi/repository/fork.js'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import { removeRepository } from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import { parseRepositoryName } from '../../../conf/names.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { createFork } from '../../../sql/repositories/forks.js'
import {
  findRepository,
  NAME_TAKEN,
  type Repository,
} from '../../../sql/repositories/repositories.js'
import { searchRepositories } from '../../../sql/repositories/repository-lists.js'
import type { Context } from '../../request/context.js'
import { markerOf } from '../../request/repository-markers.js'
import { applyPushEffects } from '../code/push-effects.js'

export interface NewFork {
  readonly parent: Repository
  readonly owner: Owner
  readonly creator: User
  readonly name: string
  readonly signal: AbortSignal
}

/**
 * Creates a fork and publishes the event of its parent. Throws `invalid` for a name that is not
 * permitted, `conflict` if the name is taken or the owner has the parent or a fork of it, and
 * `unavailable` if too many git processes run.
 */
export async function makeFork(context: Context, wanted: NewFork): Promise<Repository> {
  const { parent, owner, creator } = wanted
  const name = parseRepositoryName(wanted.name)
  await refuseSecond(context, { parent, owner, name })
  const { dir } = context.settings.data
  const source = repositoryPath(dir, parent.storage)
  const storage = newStorageKey()
  const path = repositoryPath(dir, storage)
  const { defaultBranch, objectFormat, description, website, preferences } = parent
  const visitor = { repository: source, client: `user ${creator.id}` }
  const leave = await context.queue.enter(wanted.signal, visitor)
  try {
    await forkRepository(context.git, path, {
      source,
      defaultBranch,
      objectFormat,
      marker: markerOf({ owner, name }),
      signal: wanted.signal,
    })
  } finally {
    leave()
  }
  const row = {
    ownerId: owner.id,
    name,
    storage,
    description,
    website,
    isTemplate: false,
    defaultBranch,
    objectFormat,
    // A fork must not begin to run the workflows of its parent.
    preferences: { ...preferences, has_actions: false, actions_token_writes: false },
    isEmpty: true,
    watcherId: owner.kind === 'organization' ? creator.id : undefined,
    // A fork must not publish the data of a private repository.
    isPrivate: parent.isPrivate || parent.owner.visibility !== 'public',
  }
  const fork = await createFork(context.db, row, parent.id).catch(async (error: unknown) => {
    await removeRepository(path)
    throw error
  })
  await applyPushEffects(context, fork, path)
  const forked = { repository: parent, fork, actor: creator }
  await context.events.publish({ kind: 'repository_forked', ...forked })
  return fork
}

async function refuseSecond(
  { db }: Context,
  { parent, owner, name }: Pick<NewFork, 'parent' | 'owner' | 'name'>,
): Promise<void> {
  if (owner.id === parent.owner.id) {
    throw new Failure('conflict', 'A repository cannot be forked to its own owner.')
  }
  if ((await findRepository(db, owner.name, name)) !== undefined) {
    throw new Failure('conflict', NAME_TAKEN)
  }
  const search = { viewer: { kind: 'admin', id: owner.id }, ownerId: owner.id } as const
  const page = { page: 1, limit: 1 }
  const { total } = await searchRepositories(db, { ...search, parentId: parent.id }, page)
  if (total > 0) {
    throw new Failure('conflict', `${owner.name} already has a fork of the repository.`)
  }
}
