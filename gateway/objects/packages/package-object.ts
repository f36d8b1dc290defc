/** The Package of this API, which is one version of a package, and its files. */

import { type Static, Type } from 'typebox'
import type { PackageFile } from '../../../conf/package.js'
import type { ListedVersion } from '../../../sql/packages/package-lists.js'
import { findRepositoriesById } from '../../../sql/repositories/repositories.js'
import type { Grants } from '../../auth/authorize.js'
import { accessToPackageRepository } from '../../auth/authorize-packages.js'
import type { Context } from '../../request/context.js'
import { ownerObject, personObject, USER_OBJECT } from '../accounts/user-object.js'
import {
  REPOSITORY_OBJECT,
  type RepositoryObject,
  repositoryObject,
} from '../repositories/repository-object.js'
import { apiTime } from '../times.js'

export const PACKAGE_OBJECT = Type.Object(
  {
    id: Type.Integer(),
    owner: USER_OBJECT,
    repository: REPOSITORY_OBJECT,
    creator: USER_OBJECT,
    type: Type.String(),
    name: Type.String(),
    version: Type.String(),
    html_url: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
  },
  { $id: 'Package' },
)

/** A Package, whose repository may be null, which the schema does not express. */
type PackageObject = Omit<Static<typeof PACKAGE_OBJECT>, 'repository'> & {
  readonly repository: RepositoryObject | null
}

interface PackageViewer {
  readonly grant: Grants['packages']
  /** Returns the caller's access to a linked repository; by default, with the token's scopes. */
  readonly accessTo?: typeof accessToPackageRepository
}

/**
 * Returns versions as the caller sees them, without repositories to which the caller has no access
 * by `accessTo`.
 */
export async function packageObjects(
  context: Context,
  versions: readonly ListedVersion[],
  { grant, accessTo = accessToPackageRepository }: PackageViewer,
): Promise<readonly PackageObject[]> {
  const repositories = await visibleRepositories(context, versions, { grant, accessTo })
  const owner = ownerObject(context, grant.owner)
  return versions.map((version) => ({
    id: version.id,
    owner,
    repository: repositories.get(version.repositoryId ?? 0) ?? null,
    creator: personObject(context, version.creator, grant.user),
    type: version.format,
    name: version.packageName,
    version: version.version,
    html_url: `${owner.html_url}/-/packages/${pathOf(version)}`,
    created_at: apiTime(version.createdAtMs),
  }))
}

/**
 * Returns the visible repositories by id, each read once, because many versions share few
 * repositories.
 */
async function visibleRepositories(
  context: Context,
  versions: readonly ListedVersion[],
  { grant, accessTo }: Required<PackageViewer>,
): Promise<ReadonlyMap<number, RepositoryObject>> {
  const ids = new Set(versions.flatMap(({ repositoryId }) => repositoryId ?? []))
  const repositories = await findRepositoriesById(context.db, [...ids])
  const seen = await Promise.all(
    repositories.map(async (repository) => {
      const modes = await accessTo(context.db, grant.who, repository)
      if (modes.any === 'none') return []
      return [[repository.id, await repositoryObject(context, repository, modes)] as const]
    }),
  )
  return new Map(seen.flat())
}

function pathOf({ format, packageName, version }: ListedVersion): string {
  return [format, packageName, version].map(encodeURIComponent).join('/')
}

export const PACKAGE_FILE = Type.Object(
  {
    id: Type.Integer(),
    size: Type.Integer(),
    name: Type.String(),
    md5: Type.String(),
    sha1: Type.String(),
    sha256: Type.String(),
    sha512: Type.String(),
  },
  { $id: 'PackageFile' },
)

/** Returns a file of a version. */
export function packageFileObject(file: PackageFile): Static<typeof PACKAGE_FILE> {
  const { id, bytes, name, digests } = file
  const { md5, sha1, sha256, sha512 } = digests
  return { id, size: bytes, name, md5, sha1, sha256, sha512 }
}
