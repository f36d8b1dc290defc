/** Releases that a caller can see: drafts are visible only with write permission. */

import { notFound } from '../../../conf/failures.js'
import type { Paged } from '../../../sql/database/page.js'
import {
  findLatestRelease,
  findRelease,
  findReleaseByTag,
  listReleases,
  type Release,
  type ReleaseQuery,
} from '../../../sql/releases/releases.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { mayWrite, numberOf } from '../issues/issue-access.js'

/** Lists releases, newest first. Throws `not_found` if releases are disabled. */
export async function listVisibleReleases(
  { db }: Context,
  grant: RepositoryGrant,
  query: Omit<ReleaseQuery, 'repositoryId'>,
): Promise<Paged<Release>> {
  refuseWithoutReleases(grant.repository)
  const repositoryId = grant.repository.id
  if (mayWrite(grant)) return await listReleases(db, { ...query, repositoryId })
  if (query.isDraft === true) return { entries: [], total: 0 }
  return await listReleases(db, { ...query, repositoryId, isDraft: false })
}

/** Returns the release with that id. Throws `not_found` also if the caller cannot see it. */
export async function releaseOfId(
  context: Context,
  grant: RepositoryGrant,
  params: Readonly<Record<string, string>>,
): Promise<Release> {
  refuseWithoutReleases(grant.repository)
  return seen(await findRelease(context.db, grant.repository.id, numberOf(params, 'id')), grant)
}

/** Returns the release of that tag. Throws `not_found` also if the caller cannot see it. */
export async function releaseOfTag(
  context: Context,
  grant: RepositoryGrant,
  tagName: string,
): Promise<Release> {
  refuseWithoutReleases(grant.repository)
  return seen(await findReleaseByTag(context.db, grant.repository.id, tagName), grant)
}

/** Returns the latest release, without drafts and pre-releases. Throws `not_found` if none. */
export async function latestRelease({ db }: Context, grant: RepositoryGrant): Promise<Release> {
  refuseWithoutReleases(grant.repository)
  return seen(await findLatestRelease(db, grant.repository.id), grant)
}

/** Throws `not_found` if releases are disabled in the repository. */
export function refuseWithoutReleases({ preferences }: Repository): void {
  if (preferences['has_releases'] === false) throw notFound()
}

function seen(release: Release | undefined, grant: RepositoryGrant): Release {
  if (release === undefined || (release.isDraft && !mayWrite(grant))) throw notFound()
  return release
}
