/** Addresses of the pictures of accounts, organizations and repositories. */

import { createHash } from 'node:crypto'
import type { Settings } from '../../../conf/settings.js'
import type { Owner } from '../../../sql/accounts/owners.js'

/** Paths below which pictures are served by their hashes. */
export const AVATARS_PATH = '/avatars'
export const REPOSITORY_AVATARS_PATH = '/repo-avatars'

interface BaseUrl {
  readonly settings: { readonly http: Pick<Settings['http'], 'baseUrl'> }
}

/** Returns the e-mail address that is shown in place of the hidden one of an owner. */
export function shownEmail({ settings }: BaseUrl, { name }: Pick<Owner, 'name'>): string {
  return `${name.toLowerCase()}@noreply.${new URL(settings.http.baseUrl).hostname}`
}

/**
 * Returns the address of the picture of an account or an organization. Without an uploaded picture,
 * it has the MD5 hash of an e-mail address that the viewer sees, as in Gitea.
 */
export function ownerAvatarUrl(
  { settings }: BaseUrl,
  owner: Pick<Owner, 'name' | 'avatarHash'>,
  email = shownEmail({ settings }, owner),
): string {
  const hash = owner.avatarHash ?? createHash('md5').update(email.toLowerCase()).digest('hex')
  return `${settings.http.baseUrl}${AVATARS_PATH}/${hash}`
}

/** Returns the address of the picture of a repository; empty if none was uploaded. */
export function repositoryAvatarUrl(
  { settings }: BaseUrl,
  { avatarHash }: { readonly avatarHash: string | undefined },
): string {
  if (avatarHash === undefined) return ''
  return `${settings.http.baseUrl}${REPOSITORY_AVATARS_PATH}/${avatarHash}`
}
