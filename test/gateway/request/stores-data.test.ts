/** Routes that change data and are still served while the disk is full. */

import t from 'tap'
import { SERVED_ON_FULL_DISK, storesData } from '../../../gateway/request/stores-data.js'
import { allRoutes } from '../../../gateway/server.js'

const ON = { isEnabled: true }
const ROUTES = allRoutes({ actions: ON, lfs: ON, packages: ON, web: ON })
const nameOf = ({ method, path }: (typeof ROUTES)[number]) => `${method} ${path}`

t.test('each exception is a route', async (t) => {
  const names = new Set(ROUTES.map(nameOf))
  t.strictSame(
    [...SERVED_ON_FULL_DISK].filter((name) => !names.has(name)),
    [],
  )
})

t.test('reads are served, except for the start of a push', async (t) => {
  const refused = ROUTES.filter((route) => route.method === 'GET' && storesData(route))
  t.match(refused, [{ path: '/{owner}/{repo}/info/refs', query: 'service=git-receive-pack' }])
  t.equal(refused.length, 1)
})

t.test('deletions are served, except for those of files and wiki pages by a commit', async (t) => {
  const refused = ROUTES.filter((route) => route.method === 'DELETE' && storesData(route))
  t.strictSame(refused.map(nameOf), [
    'DELETE /api/v1/repos/{owner}/{repo}/contents/{filepath...}',
    'DELETE /api/v1/repos/{owner}/{repo}/wiki/page/{pageName}',
  ])
})

t.test('of all other requests those that sign in, close and remove are served', async (t) => {
  const served = ROUTES.filter(
    (route) => !['GET', 'DELETE'].includes(route.method) && !storesData(route),
  )
  t.strictSame(served.map(nameOf).toSorted(), SERVED)
})

const SERVED: readonly string[] = [
  'PATCH /api/v1/admin/users/{username}',
  'PATCH /api/v1/repos/{owner}/{repo}',
  'POST /admin/actions/runners/delete',
  'POST /admin/actions/secrets/delete',
  'POST /admin/actions/variables/delete',
  'POST /admin/hooks/{id}/delete',
  'POST /admin/settings/registration',
  'POST /admin/users/{username}',
  'POST /admin/users/{username}/delete',
  'POST /admin/users/{username}/password',
  'POST /api/packages/{owner}/composer/downloads',
  'POST /api/packages/{owner}/swift',
  'POST /api/packages/{owner}/swift/login',
  'POST /api/v1/packages/{owner}/-/cleanup-rules/{type}/run',
  'POST /api/v1/repos/{owner}/{repo}/file-contents',
  'POST /login/oauth/access_token',
  'POST /login/oauth/authorize',
  'POST /login/oauth/introspect',
  'POST /login/oauth/revoke',
  'POST /org/{org}/members/leave',
  'POST /org/{org}/members/remove',
  'POST /org/{org}/settings/actions/runners/delete',
  'POST /org/{org}/settings/actions/secrets/delete',
  'POST /org/{org}/settings/actions/variables/delete',
  'POST /org/{org}/settings/blocked_users/remove',
  'POST /org/{org}/settings/delete',
  'POST /org/{org}/teams/{team}/members/remove',
  'POST /org/{org}/teams/{team}/repositories/remove',
  'POST /org/{org}/teams/{team}/settings/delete',
  'POST /twirp/github.actions.results.api.v1.ArtifactService/DeleteArtifact',
  'POST /twirp/github.actions.results.api.v1.ArtifactService/GetSignedArtifactURL',
  'POST /twirp/github.actions.results.api.v1.ArtifactService/ListArtifacts',
  'POST /user/login',
  'POST /user/logout',
  'POST /user/settings/actions/runners/delete',
  'POST /user/settings/actions/secrets/delete',
  'POST /user/settings/actions/variables/delete',
  'POST /user/settings/applications/delete',
  'POST /user/settings/blocked_users/remove',
  'POST /user/settings/gpg/delete',
  'POST /user/settings/keys/delete',
  'POST /user/settings/oauth2/delete',
  'POST /user/settings/oauth2/revoke',
  'POST /user/settings/password',
  'POST /user/settings/security/keys/delete',
  'POST /user/settings/sessions/delete',
  'POST /user/settings/sessions/delete-others',
  'POST /user/two-factor',
  'POST /user/two-factor/key',
  'POST /{owner}/-/packages/settings/protections/delete',
  'POST /{owner}/-/packages/settings/rules/{type}',
  'POST /{owner}/-/packages/settings/rules/{type}/delete',
  'POST /{owner}/-/packages/settings/rules/{type}/run',
  'POST /{owner}/-/packages/{type}/{name}/{version}/-/delete',
  'POST /{owner}/{repo}/git-upload-pack',
  'POST /{owner}/{repo}/info/lfs/locks/verify',
  'POST /{owner}/{repo}/info/lfs/locks/{id}/unlock',
  'POST /{owner}/{repo}/info/lfs/objects/batch',
  'POST /{owner}/{repo}/info/lfs/verify',
  'POST /{owner}/{repo}/issues/{index}/dependencies/remove',
  'POST /{owner}/{repo}/issues/{index}/pin/remove',
  'POST /{owner}/{repo}/issues/{index}/stopwatch/delete',
  'POST /{owner}/{repo}/issues/{index}/times/delete',
  'POST /{owner}/{repo}/settings',
  'POST /{owner}/{repo}/settings/actions/runners/delete',
  'POST /{owner}/{repo}/settings/actions/secrets/delete',
  'POST /{owner}/{repo}/settings/actions/variables/delete',
  'POST /{owner}/{repo}/settings/collaboration/delete',
  'POST /{owner}/{repo}/settings/delete',
  'POST /{owner}/{repo}/settings/hooks/{id}/delete',
  'POST /{owner}/{repo}/settings/keys/delete',
  'POST /{owner}/{repo}/settings/transfer/delete',
  'PUT /api/v1/packages/{owner}/-/cleanup-rules/{type}',
]
