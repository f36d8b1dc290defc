/** Which requests store data, and are therefore refused while the disk has no room for more. */

import type { AnyRoute } from './route.js'

/**
 * Routes that change something and are served all the same: they sign users in, close accounts,
 * sessions and repositories to others, or make room. Each writes a few rows at most, for which
 * `data.disk_free_min` leaves the space.
 */
export const SERVED_ON_FULL_DISK: ReadonlySet<string> = new Set([
  'POST /{owner}/{repo}/git-upload-pack',
  'POST /user/login',
  'POST /user/logout',
  'POST /user/settings/password',
  'POST /user/two-factor',
  'POST /user/two-factor/key',
  'POST /login/oauth/authorize',
  'POST /login/oauth/access_token',
  'POST /login/oauth/introspect',
  'POST /admin/users/{username}',
  'PATCH /api/v1/admin/users/{username}',
  'POST /admin/users/{username}/password',
  'POST /admin/settings/registration',
  'POST /{owner}/{repo}/settings',
  'PATCH /api/v1/repos/{owner}/{repo}',
])

/** Forms whose action takes something away. */
const FREES = /\/(?:delete|delete-others|remove|leave|revoke)$/

/** A commit that removes a file is a commit more. */
const STORES_BY_DELETE = '/api/v1/repos/{owner}/{repo}/contents/{filepath...}'

/** Whether a route needs room on the disk: DELETE does not, and of GET only the start of a push. */
export function storesData({ method, path, access }: AnyRoute): boolean {
  if (method === 'DELETE') return path === STORES_BY_DELETE
  if (method === 'GET') return access.kind === 'repository' && access.changesGit === true
  if (access.kind === 'packages' && access.mode === 'read') return false
  return !FREES.test(path) && !SERVED_ON_FULL_DISK.has(`${method} ${path}`)
}
