/** The repository of a package, as the registry shows it to callers who can read it. */

import { createHash, randomUUID } from 'node:crypto'
import { withObjects } from '../../cgi/objects/objects.js'
import { findRevision } from '../../cgi/refs/revision.js'
import { readSettledState } from '../../cgi/repository/repository-state.js'
import { Failure } from '../../conf/failures.js'
import type { PackageSource } from '../../registry/package-store.js'
import { findLinkedRepositoryId } from '../../sql/packages/package-links.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { cloneUrl } from '../actions/repositories/clone-urls.js'
import { ANONYMOUS, type Identity } from '../auth/authenticate.js'
import { authorize } from '../auth/authorize.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'

/** Finds the repository that a package is linked to; undefined if the caller cannot clone it. */
export async function findPackageSource(
  context: Context,
  who: Identity,
  { id }: { readonly id: number },
): Promise<PackageSource | undefined> {
  const repositoryId = await findLinkedRepositoryId(context.db, id)
  if (repositoryId === undefined) return undefined
  const repository = await findRepositoryById(context.db, repositoryId)
  if (repository === undefined || !(await canClone(context, who, repository))) return undefined
  const path = repositoryPathOf(context, repository)
  const state = await readSettledState(path)
  return {
    url: cloneUrl(context.settings, `${repository.owner.name}/${repository.name}`),
    // Without a fingerprint, no two requests share a document.
    state: state === undefined ? randomUUID() : digestOf(state.text),
    commitsOf: (tags) =>
      withObjects(context.git, path, async (objects) => {
        const found = await Promise.all(
          tags.map(async (tag) => {
            const revision = await findRevision(objects, `refs/tags/${tag}`)
            return revision === undefined ? [] : [[tag, revision.commitId] as const]
          }),
        )
        return new Map(found.flat())
      }),
  }
}

/**
 * Returns true if the caller, or an anonymous client, is permitted to clone the repository. A token
 * for packages alone is permitted less than an anonymous client.
 */
async function canClone(
  { db }: Context,
  who: Identity,
  { owner, name }: Repository,
): Promise<boolean> {
  for (const caller of [who, ANONYMOUS]) {
    try {
      await authorize(db, {
        who: caller,
        access: { kind: 'repository', mode: 'read' },
        scopes: ['read:repository'],
        params: { owner: owner.name, repo: name },
        challenges: false,
        anonymousBytesMax: undefined,
      })
      return true
    } catch (error) {
      if (!(error instanceof Failure) || error.status >= SERVER_ERROR) throw error
    }
  }
  return false
}

const SERVER_ERROR = 500

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
