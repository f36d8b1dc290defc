/** Every route that changes something has a reviewed action in the audit log, or none. */

import t from 'tap'
import { auditedAction } from '../../../gateway/request/audited-routes.js'
import { allRoutes } from '../../../gateway/server.js'
import { isExpected } from '../../helpers/expected.js'

const ON = { isEnabled: true }
const ROUTES = allRoutes({ actions: ON, lfs: ON, packages: ON, web: ON })
const CHANGING = ROUTES.filter(({ method }) => method !== 'GET')

t.test('the actions of all routes that change something equal the reviewed ones', async (t) => {
  const actions = CHANGING.map((route) => [
    `${route.method} ${route.path}`,
    auditedAction(route) ?? '-',
  ])
  isExpected(t, Object.fromEntries(actions), 'audited-routes')
})

/** Changes of administrators and owners that are not about permissions, settings or deletions. */
const UNRECORDED =
  /\/(?:cron\/\{task\}|jobs\/retry|tests?|redeliver|run)$|\/(?:avatar|pins?|topics|public_members)(?:\/|$)|\/members\/show$|push_mirrors-sync$|\/labels(?:\/|$)|dismissals$/

t.test('what only administrators and owners may change is recorded', async (t) => {
  const guarded = CHANGING.filter(
    ({ access }) =>
      access.kind === 'admin' ||
      access.kind === 'team' ||
      (access.kind === 'organization' && access.role === 'owner') ||
      ((access.kind === 'repository' || access.kind === 'packages') &&
        (access.mode === 'admin' || access.mode === 'owner')),
  )
  const unrecorded = guarded.filter((route) => auditedAction(route) === undefined)
  t.strictSame(
    unrecorded.map(({ path }) => path).filter((path) => !UNRECORDED.test(path)),
    [],
  )
  t.ok(guarded.length > 100)
})

t.test('no read is recorded', async (t) => {
  const reads = ROUTES.filter(({ method }) => method === 'GET')
  t.strictSame(reads.filter(auditedAction), [])
})
