/** Health probes answer without credentials, disclose little, and detect failures. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { forEachDatabase, locationOn, ownMariadb } from '../helpers/databases.js'
import { startGateway } from '../helpers/gateway.js'
import { withToken } from '../helpers/requests.js'

const EXAMPLES = new URL('../../../conf/', import.meta.url)

/** Ends of the names of a histogram's series. */
const SERIES = /_(?:bucket|sum|count)$/

/** Returns the output of `promtool check rules` for a file with this text. */
function checkRules(t: Test, text: string): string {
  const folder = t.testdir({ 'rules.yml': text })
  const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', join(folder, 'rules.yml')])
  return `${stdout}${stderr}`
}

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
  const { text } = await ask({ path: '/metrics' })
  t.match(text, /^gatehouse_repositories 0$/m)
  t.match(text, /^gatehouse_database_bytes [1-9]\d{4,}$/m)
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
  t.match((await ask({ path: '/metrics' })).text, /^gatehouse_database_up 0$/m)
  await mariadb.start()
  t.match(await ask({ path: '/readyz' }), { status: 200 })
  t.equal((await me()).status, 200, 'it recovers without a restart')
})

/** Checks that rules and dashboard of conf/ are valid, and name only metrics that exist. */
function namesOnlyMetricsOf(t: Test, text: string): void {
  const rules = readFileSync(new URL('prometheus-rules.example.yml', EXAMPLES), 'utf8')
  t.match(checkRules(t, rules), /SUCCESS: 11 rules found/)
  const dashboard = readFileSync(new URL('grafana-dashboard.example.json', EXAMPLES), 'utf8')
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] }
  const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const queries = exprs.map((expr) => expr.replaceAll('$__rate_interval', '5m'))
  const asRules = queries.map((expr, at) => ({ record: `panel_${at}`, expr }))
  const group = { groups: [{ name: 'dashboard', rules: asRules }] }
  t.match(checkRules(t, JSON.stringify(group)), `SUCCESS: ${exprs.length} rules found`)
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const named = `${rules}${exprs.join('\n')}`.match(/\b(?:gatehouse|process|nodejs)_\w+/g) ?? []
  t.ok(named.length > 25, `${named.length} names`)
  const isKnown = (name: string) => known.has(name) || known.has(name.replace(SERIES, ''))
  t.strictSame(
    named.filter((name) => !isKnown(name)),
    [],
    'each named metric exists',
  )
}

t.test('metrics are served to permitted clients only', async (t) => {
  const token = 'a-token-for-metrics'
  const { ask } = await startGateway(t, { environment: { GATEHOUSE_METRICS_TOKEN: token } })
  const asked = (from: string, authorization?: string) =>
    ask({ path: '/metrics', authorization, headers: { 'x-forwarded-for': from } })
  const local = await ask({ path: '/metrics' })
  t.match(local, { status: 200, headers: { 'content-type': /^text\/plain; version=0\.0\.4/ } })
  t.match(local.text, 'gatehouse_git_queue{state="waiting"} 0')
  t.match(local.text, /^gatehouse_database_up 1$/m)
  const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: local.text })
  t.match(
    { status, stderr: String(stderr) },
    { status: 0, stderr: '' },
    'promtool has no complaint',
  )
  namesOnlyMetricsOf(t, local.text)
  t.equal((await asked('192.0.2.1', `Bearer ${token}`)).status, 200)
  for (const wrong of [undefined, 'Bearer x', `Bearer ${token}x`, `Basic ${token}`, token]) {
    t.equal((await asked('192.0.2.1', wrong)).status, 403, wrong ?? 'none')
  }
  const open = await startGateway(t)
  const outside = { path: '/metrics', headers: { 'x-forwarded-for': '192.0.2.1' } }
  t.equal((await open.ask({ ...outside, authorization: 'Bearer undefined' })).status, 403)
})
