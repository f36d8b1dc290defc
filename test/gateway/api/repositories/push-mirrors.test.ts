/** Push mirrors over the API, and the pushes that they request. */

import t from 'tap'
import { SYNC_PUSH_MIRRORS } from '../../../../gateway/jobs/sync-push-mirrors.js'
import type { Database } from '../../../../sql/database/database.js'
import { openContext } from '../../../helpers/gateway.js'
import { startGatewayWithPull } from '../../../helpers/pulls.js'
import { until } from '../../../helpers/server-processes.js'

const PATH = '/push_mirrors'
const ADDRESS = 'https://code.invalid/x.git'

/** Waits until so many push mirrors were tried; returns their URLs. */
async function untilTried(db: Database, count: number): Promise<readonly string[]> {
  const tried = async () => await db('push_mirrors').whereNotNull('tried_at').select('url')
  const rows = await until(tried, ({ length }) => length >= count, 30_000)
  return rows.map(({ url }) => url)
}

t.test('a push mirror is created, read, requested and deleted', async (t) => {
  const { of, db } = await startGatewayWithPull(t)
  const made = await of('ada', 'POST', PATH, {
    remote_address: 'https://eve:secret@code.invalid/x.git',
    interval: '8h0m0s',
  })
  const mirror = {
    repo_name: 'r',
    remote_address: ADDRESS,
    interval: '8h0m0s',
    last_update: null,
    last_error: '',
    sync_on_commit: false,
  }
  t.match(made, { status: 200, json: mirror })
  t.notMatch(made.text, 'secret')
  const { remote_name: name } = made.json as { remote_name: string }
  t.match(name, /^remote_mirror_[0-9a-f]{10}$/)
  t.match(await of('ada', 'GET', `${PATH}/${name}`), { status: 200, json: mirror })
  const second = { remote_address: ADDRESS, interval: '0', sync_on_commit: true }
  const more = await of('ada', 'POST', PATH, second)
  t.match(more, { status: 200, json: { interval: '0s', sync_on_commit: true } })
  const listed = await of('ada', 'GET', `${PATH}?limit=1&page=2`)
  t.match(listed, { json: [{ sync_on_commit: true }], headers: { 'x-total-count': '2' } })
  t.equal((await of('ada', 'POST', '/push_mirrors-sync')).status, 200)
  t.same(await untilTried(db, 2), [second.remote_address, second.remote_address])
  const tried = await of('ada', 'GET', PATH)
  t.match(tried.json, [{ last_update: /Z$/, last_error: /code\.invalid/ }, { last_update: /Z$/ }])
  t.equal((await of('bob', 'GET', PATH)).status, 403, 'only administrators read them')
  t.equal((await of('ada', 'DELETE', `${PATH}/${name}`)).status, 204)
  t.equal((await of('ada', 'DELETE', `${PATH}/${name}`)).status, 404)
  t.equal((await of('ada', 'GET', `${PATH}/${name}`)).status, 404)
})

t.test('a push requests only the mirrors that are to follow pushes', async (t) => {
  const { of, db } = await startGatewayWithPull(t)
  await of('ada', 'POST', PATH, { remote_address: ADDRESS, interval: '8h' })
  await of('ada', 'POST', PATH, { remote_address: ADDRESS, interval: '8h', sync_on_commit: true })
  await of('ada', 'POST', '/branches', { new_branch_name: 'b', old_branch_name: 'main' })
  await untilTried(db, 1)
  const listed = await of('ada', 'GET', PATH)
  t.match(listed.json, [{ last_update: null }, { last_update: /Z$/ }])
})

t.test('each due push mirror is enqueued as one job, however often', async (t) => {
  const { of, db } = await startGatewayWithPull(t)
  const { context } = await openContext(t)
  for (const interval of ['8h', '9h']) {
    await of('ada', 'POST', PATH, { remote_address: ADDRESS, interval })
  }
  const [first] = await db('push_mirrors').orderBy('id').select('id')
  await db('push_mirrors').where({ id: first?.id }).update({ next_at: 1 })
  const { signal } = new AbortController()
  await SYNC_PUSH_MIRRORS.run({ ...context, db }, 'all', signal)
  await SYNC_PUSH_MIRRORS.run({ ...context, db }, 'all', signal)
  const jobs = await db('jobs').where({ kind: 'sync-push-mirror' }).select('subject')
  t.same(jobs, [{ subject: String(first?.id) }])
})

t.test('a push mirror with a bad address or interval is refused', async (t) => {
  const environment = { GATEHOUSE_OUTBOUND_ALLOW: '' }
  const { of } = await startGatewayWithPull(t, { environment })
  const cases: readonly (readonly [string, string])[] = [
    ['file:///etc', '8h'],
    ['ssh://git@code.invalid/x.git', '8h'],
    ['https://127.0.0.1/x.git', '8h'],
    ['https://localhost/x.git', '8h'],
    ['', '8h'],
    [ADDRESS, ''],
    [ADDRESS, '1s'],
    [ADDRESS, 'often'],
  ]
  for (const [remote_address, interval] of cases) {
    const { status, text } = await of('ada', 'POST', PATH, { remote_address, interval })
    t.equal(status, 400, `${remote_address} ${interval}: ${text}`)
  }
  t.same((await of('ada', 'GET', PATH)).json, [])
})

t.test('no push mirror is created if mirrors are disabled', async (t) => {
  const environment = { GATEHOUSE_MIGRATIONS_MIRRORS: 'false' }
  const { of } = await startGatewayWithPull(t, { environment })
  const { status, text } = await of('ada', 'POST', PATH, {
    remote_address: ADDRESS,
    interval: '8h',
  })
  t.equal(status, 400)
  t.match(text, /Mirror feature is disabled/)
})
