/** Jobs that run at intervals over the API: listed, and made due by administrators. */

import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { until } from '../../../helpers/server-processes.js'

const ENABLED = { GATEHOUSE_MAINTENANCE_ENABLED: 'true', GATEHOUSE_MAINTENANCE_DELAY: '10m' }

t.test('periodic jobs are listed with their next run, and made due', async (t) => {
  const { as, db } = await startGatewayWithUsers(t, { environment: ENABLED })
  // The jobs are planned concurrently with the first requests.
  const listed = await until(
    () => as('root', 'GET', '/admin/cron'),
    ({ text }) => !text.includes('"next":"0001'),
    10_000,
  )
  const tasks = listed.json as { name: string; schedule: string; next: string }[]
  t.equal(listed.headers['x-total-count'], String(tasks.length))
  const mirrors = tasks.find(({ name }) => name === 'update_mirrors')
  t.match(mirrors, { schedule: '@every 1m0s', prev: '0001-01-01T00:00:00Z', exec_times: 0 })
  t.ok(Date.parse(mirrors?.next ?? '') > Date.now() + 300_000)
  for (const name of ['cleanup_packages', 'git_gc_repos', 'sweep-tokens', 'sync-push-mirrors']) {
    t.ok(
      tasks.some((task) => task.name === name),
      name,
    )
  }
  t.match((await as('root', 'GET', '/admin/cron?limit=1&page=2')).json, [{ name: tasks[1]?.name }])
  const due = async () => await db('jobs').where({ kind: 'sweep-tokens' }).first('run_after')
  const before = await due()
  t.equal((await as('root', 'POST', '/admin/cron/sweep-tokens')).status, 204)
  t.not((await due())?.run_after, before?.run_after, 'it is due, or has run already')
  t.equal((await as('root', 'POST', '/admin/cron/sync-mirror')).status, 404, 'not periodic')
  t.equal((await as('ada', 'GET', '/admin/cron')).status, 403)
})

t.test('without maintenance only the other jobs are listed', async (t) => {
  const { as } = await startGatewayWithUsers(t)
  const tasks = (await as('root', 'GET', '/admin/cron')).json as { name: string }[]
  const names = tasks.map(({ name }) => name)
  t.same(names, ['start_schedule_tasks', 'sweep-runs', 'sync-push-mirrors'])
  t.equal((await as('root', 'POST', '/admin/cron/update_mirrors')).status, 404)
})
