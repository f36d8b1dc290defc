/** Routes that store data, and are therefore refused while the disk is full. */

import type { AnyRoute } from './route.js'

/**
 * Routes that are served on a full disk although their method or path suggests a write: they sign
 * users in, restrict access to accounts and repositories, free space, or only read. Each writes a
 * few rows at most, for which `data.disk_free_min` leaves the space.
 */
export const SERVED_ON_FULL_DISK: ReadonlySet<string> = new Set([
  'POST /{owner}/{repo}/git-upload-pack',
  'POST /api/v1/repos/{owner}/{repo}/file-contents',
  ...['objects/batch', 'verify', 'locks/verify', 'locks/{id}/unlock'].map(
    (path) => `POST /{owner}/{repo}/info/lfs/${path}`,
  ),
  ...['ListArtifacts', 'GetSignedArtifactURL', 'DeleteArtifact'].map(
    (name) => `POST /twirp/github.actions.results.api.v1.ArtifactService/${name}`,
  ),
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
  'PUT /api/v1/packages/{owner}/-/cleanup-rules/{type}',
  'POST /api/v1/packages/{owner}/-/cleanup-rules/{type}/run',
  'POST /{owner}/-/packages/settings/rules/{type}',
  'POST /{owner}/-/packages/settings/rules/{type}/run',
  'POST /{owner}/{repo}/settings',
  'PATCH /api/v1/repos/{owner}/{repo}',
])

/** Paths of forms that delete something. */
const FREES = /\/(?:delete|delete-others|remove|leave|revoke)$/

/** Paths of the routes that delete a file by adding a commit. */
const STORES_BY_DELETE: ReadonlySet<string> = new Set([
  '/api/v1/repos/{owner}/{repo}/contents/{filepath...}',
  '/api/v1/repos/{owner}/{repo}/wiki/page/{pageName}',
])

/**
 * True if a route needs space on the disk. Nearly all routes for DELETE do not; of those for GET,
 * only the start of a push does.
 */
export function storesData({ method, path, access }: AnyRoute): boolean {
  if (method === 'DELETE') return STORES_BY_DELETE.has(path)
  if (method === 'GET') return access.kind === 'repository' && access.changesGit === true
  if (access.kind === 'packages' && access.mode === 'read') return false
  return !FREES.test(path) && !SERVED_ON_FULL_DISK.has(`${method} ${path}`)
}
