/** Blocked users: each route with which readers of a repository add something refuses them. */

import t from 'tap'
import { Failure } from '../../../conf/failures.js'
import { refuseBlockedBy, refuseBlockedPair } from '../../../gateway/auth/authorize-blocked.js'
import { allRoutes } from '../../../gateway/server.js'
import { addBlock } from '../../../sql/accounts/blocks.js'
import { openContext } from '../../helpers/gateway.js'

const ON = { isEnabled: true }

/**
 * Routes that change only what the caller sees, that need write permission inside, or that answer
 * an offer of the owner.
 */
const PERMITTED: ReadonlySet<string> = new Set([
  'PUT /api/v1/repos/{owner}/{repo}/notifications',
  'POST /api/v1/repos/{owner}/{repo}/file-contents',
  'POST /api/v1/repos/{owner}/{repo}/pulls/{index}/merge',
  'POST /api/v1/repos/{owner}/{repo}/pulls/{index}/update',
  'POST /{owner}/{repo}/pulls/{index}/merge',
  'POST /api/v1/repos/{owner}/{repo}/transfer/accept',
  'POST /api/v1/repos/{owner}/{repo}/transfer/reject',
  'POST /{owner}/{repo}/transfer/accept',
  'POST /{owner}/{repo}/transfer/reject',
])

t.test('each route that adds something with read permission refuses blocked users', async (t) => {
  const permitted = new Set<string>()
  for (const { access, method, path } of allRoutes({
    actions: ON,
    lfs: ON,
    packages: ON,
    web: ON,
  })) {
    if (access.kind !== 'repository' || access.mode !== 'read') continue
    if (access.isSignedIn !== true || !['POST', 'PUT', 'PATCH'].includes(method)) continue
    const route = `${method} ${path}`
    t.equal(access.refusesBlocked === true, !PERMITTED.has(route), route)
    if (PERMITTED.has(route)) permitted.add(route)
  }
  t.strictSame(permitted, PERMITTED)
})

t.test('a user is refused by one of the owners who blocks them, in both directions', async (t) => {
  const { fixture } = await openContext(t)
  const { db } = fixture
  const [ada, bob, eve] = [
    await fixture.addUser('ada'),
    await fixture.addUser('bob'),
    await fixture.addUser('eve'),
  ]
  await addBlock(db, { ownerId: ada.id, userId: eve.id }, { note: '' })
  const refusal = new Failure('forbidden', 'user is blocked')
  await t.rejects(refuseBlockedBy(db, eve, [bob.id, ada.id]), refusal)
  await t.resolves(refuseBlockedBy(db, bob, [ada.id, eve.id]))
  await t.rejects(refuseBlockedPair(db, ada, eve), refusal)
  await t.rejects(refuseBlockedPair(db, eve, ada), refusal)
  await t.resolves(refuseBlockedPair(db, ada, bob))
})
