/** Linking a package to a repository of its owner. */

import { Failure } from '../../../conf/failures.js'
import { linkPackage } from '../../../sql/packages/package-links.js'
import type { PackageNamespace } from '../../../sql/packages/packages.js'
import { authorize, type Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'

export interface NewLink {
  readonly namespace: PackageNamespace
  readonly packageName: string
  readonly repositoryName: string
}

/**
 * Links a package to a repository that the caller can write. Throws `not_found` if the package or
 * the repository does not exist, `forbidden` if the repository has another owner, `bad_request` if
 * the package is linked already.
 */
export async function linkToRepository(
  { db }: Pick<Context, 'db'>,
  { owner, who }: Pick<Grants['packages'], 'owner' | 'who'>,
  { namespace, packageName, repositoryName }: NewLink,
): Promise<void> {
  const { repository } = await authorize(db, {
    who,
    access: { kind: 'repository', mode: 'write' },
    scopes: [],
    params: { owner: owner.name, repo: repositoryName },
    challenges: false,
    anonymousBytesMax: undefined,
  })
  // The name of the owner can be an earlier one, of another account by now.
  if (repository.owner.id !== owner.id) {
    throw new Failure('forbidden', 'The repository does not belong to the owner of the package.')
  }
  await linkPackage(db, namespace, { packageName, repositoryId: repository.id })
}
