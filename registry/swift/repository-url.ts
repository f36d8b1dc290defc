/** Addresses of repositories, of which many ways of writing mean one. */

/** The property by which packages are found by their repository. */
export const REPOSITORY_URL = 'swift.repository-url'

const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@/]*@)?([^@/:\s]+)(?::\d+(?=\/|$))?[:/](.+)$/i

/**
 * `host/path`, the same for each way to reach a repository: over HTTPS or SSH, as a user or not, on
 * any port, with `.git` at its end or without. Any other text as it stands.
 */
export function normaliseRepositoryUrl(text: string): string {
  const url = text.trim()
  const [, host, rest = ''] = ADDRESS.exec(url) ?? []
  if (host === undefined) return url
  const path = rest.split('/').filter((segment) => segment !== '')
  return `${host.toLowerCase()}/${path.join('/').replace(/\.git$/i, '')}`
}
