/** Addresses of pages, for links. They have no host, so pages work under each name of the site. */

import type { Settings } from '../../../conf/settings.js'
import type { Issue } from '../../../sql/issues/issues.js'
import type { Repository } from '../../../sql/repositories/repositories.js'

interface Site {
  readonly settings: Pick<Settings, 'http'>
}

interface OfRepository {
  readonly repository: Pick<Repository, 'owner' | 'name' | 'defaultBranch'>
}

export interface ComparedBranch {
  /** Repository that this one is a fork of, if the visitor can read it. */
  readonly parent: Repository | undefined
  readonly branch: string
}

/**
 * Returns the address of the page that compares a branch with the default branch of the repository,
 * or of the parent if the repository is a fork. Returns undefined for the default branch itself.
 */
export function comparisonUrl(
  site: Site,
  of: OfRepository,
  { parent, branch }: ComparedBranch,
): string | undefined {
  const { repository } = of
  const { defaultBranch } = parent ?? repository
  if (parent === undefined) {
    if (branch === defaultBranch) return undefined
    return `${repositoryUrl(site, of)}/compare/${comparisonPath(defaultBranch, branch)}`
  }
  const text = comparisonPath(
    defaultBranch,
    `${repository.owner.name}/${repository.name}:${branch}`,
  )
  return `${repositoryUrl(site, { repository: parent })}/compare/${text}`
}

/** Returns the part of a path that names two branches, percent-encoded. */
export function comparisonPath(base: string, head: string): string {
  return `${base}...${head}`.split('/').map(encodeURIComponent).join('/')
}

/** Returns the address of a repository's page. */
export function repositoryUrl({ settings }: Site, { repository }: OfRepository): string {
  return `${settings.http.basePath}/${repository.owner.name}/${repository.name}`
}

/** Returns the address of the page of an issue or a pull request. */
export function issueUrl(
  site: Site,
  of: OfRepository,
  { number, isPull }: Pick<Issue, 'number' | 'isPull'>,
): string {
  return `${repositoryUrl(site, of)}/${isPull ? 'pulls' : 'issues'}/${number}`
}

/** Returns a tag name as a part of a path: percent-encoded except for its slashes. */
export function tagPath(tagName: string): string {
  return tagName.split('/').map(encodeURIComponent).join('/')
}

interface OfOrganization {
  readonly organization: { readonly name: string }
}

/** Returns the path of an organization's pages. */
export function organizationPath({ organization }: OfOrganization): string {
  return `/org/${organization.name}`
}
