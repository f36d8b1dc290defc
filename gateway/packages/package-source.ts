/** The repository of a package, as the registry shows it to callers who can read it. */

import { createHash, randomUUID } from 'node:crypto'
import { withObjects } from '../../cgi/objects/with-objects.js'
import { findRevision } from '../../cgi/refs/revision.js'
import { readSettledState } from '../../cgi/repository/repository-state.js'
import type { PackageSource } from '../../registry/package-store.js'
import { findLinkedRepositoryId } from '../../sql/packages/package-links.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { cloneUrl } from '../actions/repositories/clone-urls.js'
import { ANONYMOUS, type Identity } from '../auth/authenticate.js'
import { authorizeSource } from '../auth/authorize-source.js'
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
  const query = { owner, repo: name, anonymousBytesMax: undefined }
  return (
    (await authorizeSource(db, who, query)) !== undefined ||
    (await authorizeSource(db, ANONYMOUS, query)) !== undefined
  )
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
