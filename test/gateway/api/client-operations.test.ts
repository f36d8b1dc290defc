/**
 * Operations that real clients call, ordered by the number of clients, and whether each is served.
 */

import t from 'tap'
import { OPERATIONS } from '../../../gateway/api/operations.js'
import { isExpected } from '../../helpers/expected.js'

/**
 * Requests of tea, Renovate, Woodpecker, Drone, Jenkins, Argo CD, Flux, terraform (X), gickup,
 * Gitea mirror (M), goreleaser (L), semantic-release and VS Code. `R` means a repository, `*` marks
 * the thirteen operations that this service promises.
 */
const CALLED = `
* GET /version
* GET /user
* GET /user/repos
* POST /user/repos
* GET R
* POST R/contents/{}
* GET R/branches
* POST R/branches
* POST R/pulls
* GET R/issues
* POST R/issues
* POST /user/keys
* POST /repos/migrate
TRWDJAFV GET R/pulls
TRWDJFX GET R/pulls/{}
RWDJF POST R/statuses/{}
WDJAFX GET R/branches/{}
RJAFGXT GET /orgs/{}/repos
RALFXM GET R/contents/{}
TWDFMX GET /user/orgs
TWDJX GET R/hooks
TWDJX POST R/hooks
TWDJX DELETE R/hooks/{}
WDJ GET R/raw/{}
RJFXM GET /orgs/{}
TRLSM GET R/releases
TLSM POST R/releases
TLSM PATCH R/releases/{}
TLSM POST R/releases/{}/assets
TRAMV GET R/labels
TRMVD GET R/issues/{}
TRMV PATCH R/issues/{}
TRMVD GET R/issues/{}/comments
TRMVD POST R/issues/{}/comments
TRFX PATCH R/pulls/{}
TRDF POST R/pulls/{}/merge
TRM GET /repos/search
TJGX GET /users/{}
TJFG GET /users/{}/repos
WFV GET R/git/trees/{}
WDJ GET R/git/commits/{}
RFT GET R/commits
DJF GET R/statuses/{}
R GET R/commits/{}/statuses
TWV GET R/commits/{}/status
LFX PUT R/contents/{}
XF DELETE R/contents/{}
TFX POST /orgs/{}/repos
TFXM PATCH R
TFXM DELETE R
TGMX POST /orgs
RJT GET R/tags
RM GET R/tags/{}
WX GET /repositories/{}
TX POST /users/{}/tokens
TX GET /users/{}/tokens
TX DELETE /users/{}/tokens/{}
LW GET R/compare/{}
WDV GET R/pulls/{}/files
TRM PUT R/issues/{}/labels
TRM POST R/issues/{}/labels
TRM DELETE R/issues/{}/labels/{}
RTV PATCH R/issues/comments/{}
RTV DELETE R/issues/comments/{}
TLXM GET R/milestones
TLXM POST R/milestones
TLXM PATCH R/milestones/{}
RT POST R/pulls/{}/requested_reviewers
RT DELETE R/pulls/{}/requested_reviewers
GM POST R/mirror-sync
FX GET R/keys
FX POST R/keys
FX DELETE R/keys/{}
TX GET /user/keys
JX GET R/collaborators
JX GET R/collaborators/{}
JX PUT R/collaborators/{}
JX DELETE R/collaborators/{}
JX GET R/collaborators/{}/permission
MTV GET R/releases/tags/{}
MTV GET R/releases/latest
JXT PATCH R/hooks/{}
JXT GET /orgs/{}/hooks
JXT POST /orgs/{}/hooks
JXT PATCH /orgs/{}/hooks/{}
JXT DELETE /orgs/{}/hooks/{}
XT GET R/branch_protections
XT POST R/branch_protections
XT PATCH R/branch_protections/{}
XT DELETE R/branch_protections/{}
R GET /orgs/{}/labels
W GET /orgs/{}/members/{}
W GET /users/{}/orgs/{}/permissions
FX GET /orgs/{}/teams
FX POST /orgs/{}/teams
FX GET /teams/{}
FX PATCH /teams/{}
FX DELETE /teams/{}
FX GET /teams/{}/members
FX PUT /teams/{}/members/{}
FX GET /teams/{}/repos
FX PUT /teams/{}/repos/{}/{}
XT GET R/actions/secrets
XT PUT R/actions/secrets/{}
XT GET R/actions/variables
XT POST R/actions/variables/{}
R GET R/pulls/{}/{}
TV GET R/pulls/{}/reviews
TV POST R/pulls/{}/reviews
J GET R/git/tags/{}
MX PUT R/topics
TV GET /notifications
TV PATCH /notifications/threads/{}
XT GET /admin/users
XT POST /admin/users
XT PATCH /admin/users/{}
XT DELETE /admin/users/{}
- POST R/actions/runners/registration-token
TV GET R/actions/runs
TV POST R/actions/workflows/{}/dispatches
GXT GET /user/starred
GXT POST R/forks
GXT POST R/generate
GXT POST R/transfer
`

const blank = (path: string) => path.replace(/\{[^}]*\}/g, '{}')

t.test('every operation that clients call is served, except the listed ones', async (t) => {
  const served = new Set(OPERATIONS.map(({ method, path }) => `${method} ${blank(path)}`))
  const calls = CALLED.trim()
    .split('\n')
    .map((line) => line.replace(/ R(?=\/|$)/, ' /repos/{}/{}'))
    .map((line) => ({ line, call: line.slice(line.indexOf(' ') + 1) }))
  const states = calls.map(({ line, call }) => `${served.has(call) ? 'served' : 'absent'} ${line}`)
  isExpected(t, states, 'api/client-operations')
})
