/** Health probes answer without credentials, disclose little, and detect failures. */

import { rm } from 'node:fs/promises'
import t from 'tap'
import { forEachDatabase, locationOn, ownMariadb } from '../helpers/databases.js'
import { startGateway } from '../helpers/gateway.js'
import { withToken } from '../helpers/requests.js'

await forEachDatabase(t, 'a healthy instance answers both probes with ok', async (t, location) => {
  const { ask } = await startGateway(t, { location })
  for (const path of ['/livez', '/readyz']) {
    t.match(await ask({ path }), { status: 200, text: 'ok\n' })
    t.match(await ask({ path, method: 'HEAD' }), { status: 200, text: '' })
    t.match(await ask({ path, method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } })
  }
  const passes = [{ status: 'pass' }]
  t.match(await ask({ path: '/api/healthz' }), {
    status: 200,
    json: { status: 'pass', checks: { 'database:ping': passes, 'data:writable': passes } },
  })
  const authorization = 'nonsense'
  t.equal((await ask({ path: '/livez', authorization })).status, 200, 'credentials are not read')
})

t.test('a missing data folder is reported without its path', async (t) => {
  const { ask, settings } = await startGateway(t)
  await rm(settings.data.dir, { recursive: true })
  t.equal((await ask({ path: '/livez' })).status, 200, 'the process itself is alive')
  t.match(await ask({ path: '/readyz' }), { status: 503, text: 'data:writable: failing\n' })
  const healthz = await ask({ path: '/api/healthz' })
  t.equal(healthz.status, 503)
  t.match(healthz.json, {
    status: 'fail',
    checks: { 'data:writable': [{ status: 'fail', output: 'not available' }] },
  })
  t.notMatch(healthz.text, settings.data.dir)
})

t.test('an unreachable database is reported with a retry time', async (t) => {
  const mariadb = await ownMariadb()
  const location = await locationOn(mariadb)
  const { ask, addUser, addToken } = await startGateway(t, { location })
  const authorization = withToken((await addToken(await addUser('ada'), 'all')).plain)
  const me = () => ask({ path: '/api/v1/user', authorization })
  t.equal((await me()).status, 200)
  await mariadb.stop('SIGKILL')
  t.match(await ask({ path: '/readyz' }), { status: 503, text: 'database:ping: failing\n' })
  const away = await me()
  t.equal(away.status, 503)
  t.match(away.headers['retry-after'], /^\d+$/)
  t.match(await ask({ path: '/livez' }), { status: 200 })
  await mariadb.start()
  t.match(await ask({ path: '/readyz' }), { status: 200 })
  t.equal((await me()).status, 200, 'it recovers without a restart')
})

t.test('metrics are served to permitted clients only', async (t) => {
  const token = 'a-token-for-metrics'
  const { ask } = await startGateway(t, { environment: { GATEHOUSE_METRICS_TOKEN: token } })
  const asked = (from: string, authorization?: string) =>
    ask({ path: '/metrics', authorization, headers: { 'x-forwarded-for': from } })
  const local = await ask({ path: '/metrics' })
  t.match(local, { status: 200, headers: { 'content-type': /^text\/plain; version=0\.0\.4/ } })
  t.match(local.text, 'gatehouse_git_queue{state="waiting"} 0')
  t.equal((await asked('192.0.2.1', `Bearer ${token}`)).status, 200)
  for (const wrong of [undefined, 'Bearer x', `Bearer ${token}x`, `Basic ${token}`, token]) {
    t.equal((await asked('192.0.2.1', wrong)).status, 403, wrong ?? 'none')
  }
  const open = await startGateway(t)
  const outside = { path: '/metrics', headers: { 'x-forwarded-for': '192.0.2.1' } }
  t.equal((await open.ask({ ...outside, authorization: 'Bearer undefined' })).status, 403)
})
