/** Normalization of repository URLs, because one repository has many URLs. */

/** Property by which packages are found by their repository URL. */
export const REPOSITORY_URL = 'swift.repository-url'

const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@/]*@)?([^@/:\s]+)(?::\d+(?=\/|$))?[:/](.+)$/i

/**
 * Returns `host/path`, which is equal for all URLs of a repository: HTTPS or SSH, with or without a
 * user name, port or `.git` suffix. Returns any other text unchanged, except white space around it.
 */
export function normaliseRepositoryUrl(text: string): string {
  const url = text.trim()
  const [, host, rest = ''] = ADDRESS.exec(url) ?? []
  if (host === undefined) return url
  const path = rest.split('/').filter((segment) => segment !== '')
  return `${host.toLowerCase()}/${path.join('/').replace(/\.git$/i, '')}`
}
