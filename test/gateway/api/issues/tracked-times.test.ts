/** Tracked times and stopwatches: added, listed by permission, deleted. */

import t from 'tap'
import { durationText } from '../../../../sql/issues/tracked-times.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import type { Fields } from '../../../helpers/pulls.js'
import type { Answer } from '../../../helpers/requests.js'

const R = '/repos/ada/r'
const TIMES = `${R}/issues/1/times`

const secondsOf = ({ status, json }: Answer) =>
  status === 200 ? (json as readonly { time: number }[]).map(({ time }) => time) : status

await onOneDatabase(t, 'times are added, listed and deleted', async (t, location) => {
  const { as, addUser } = await startGatewayWithUsers(t, { location })
  await addUser('eve')
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('bob', 'POST', `${R}/issues`, { title: 'of bob' })
  const mine = await as('ada', 'POST', TIMES, { time: 90, created: '2020-01-02T03:04:05Z' })
  t.match(mine, {
    status: 200,
    json: {
      time: 90,
      created: '2020-01-02T03:04:05Z',
      user_name: 'ada',
      issue: { number: 1, repository: { full_name: 'ada/r' } },
    },
  })
  const his = await as('bob', 'POST', TIMES, { time: 60, user_name: 'ada' })
  t.match(his.json, { time: 60, user_name: 'bob' }, 'only administrators add it for others')
  const for_eve = await as('ada', 'POST', TIMES, { time: 5, user_name: 'eve' })
  t.match(for_eve.json, { time: 5, user_name: 'eve' })
  for (const body of [{}, { time: 0 }, { time: -1 }, { time: 1e12 }, { time: '1' }]) {
    t.equal((await as('ada', 'POST', TIMES, body)).status, 422, JSON.stringify(body))
  }
  t.strictSame(secondsOf(await as('ada', 'GET', TIMES)), [90, 60, 5])
  t.strictSame(secondsOf(await as('ada', 'GET', `${TIMES}?user=bob`)), [60])
  t.strictSame(secondsOf(await as('ada', 'GET', `${TIMES}?before=2021-01-01T00:00:00Z`)), [90])
  t.strictSame(secondsOf(await as('bob', 'GET', TIMES)), [60], 'without write access, own times')
  t.equal((await as('bob', 'GET', `${TIMES}?user=ada`)).status, 403)
  t.equal((await as('ada', 'GET', `${TIMES}?user=nobody`)).status, 404)
  t.equal((await as('anyone', 'GET', TIMES)).status, 401)
  t.strictSame(secondsOf(await as('ada', 'GET', `${R}/times`)), [90, 60, 5])
  t.strictSame(secondsOf(await as('bob', 'GET', `${R}/times`)), [60])
  t.strictSame(secondsOf(await as('ada', 'GET', `${R}/times/bob`)), [60])
  t.equal((await as('bob', 'GET', `${R}/times/ada`)).status, 403)
  t.strictSame(secondsOf(await as('bob', 'GET', '/user/times')), [60])
  const idOf = ({ json }: Answer) => (json as Fields)['id']
  t.equal((await as('bob', 'DELETE', `${TIMES}/${idOf(mine)}`)).status, 403)
  t.equal((await as('ada', 'DELETE', `${TIMES}/${idOf(mine)}`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${TIMES}/${idOf(mine)}`)).status, 404)
  t.equal((await as('bob', 'DELETE', TIMES)).status, 204)
  t.equal((await as('bob', 'DELETE', TIMES)).status, 404)
  t.match((await as('anyone', 'GET', `${R}/issues/1/timeline`)).json, [
    { type: 'add_time_manual', body: '1 minute', tracked_time: null },
    { type: 'add_time_manual' },
    { type: 'add_time_manual', body: '5 seconds', tracked_time: { time: 5, user_name: 'eve' } },
    { type: 'delete_time_manual', body: '- 1 minute' },
    { type: 'delete_time_manual' },
  ])
  await as('ada', 'POST', `${R}/issues`, { title: 'of ada' })
  t.equal((await as('bob', 'POST', `${R}/issues/2/times`, { time: 1 })).status, 403)
  await as('ada', 'PUT', `${R}/collaborators/bob`, { permission: 'write' })
  t.equal((await as('bob', 'POST', `${R}/issues/2/times`, { time: 1 })).status, 200)
  await as('ada', 'PATCH', R, { private: true })
  await as('ada', 'DELETE', `${R}/collaborators/bob`)
  t.strictSame(secondsOf(await as('bob', 'GET', '/user/times')), [], 'a repository out of reach')
})

await onOneDatabase(t, 'a stopwatch measures the time of an issue', async (t, location) => {
  const { as, db } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  for (const title of ['one', 'two']) await as('ada', 'POST', `${R}/issues`, { title })
  const watch = (path: string, method = 'POST') => as('ada', method, `${R}/issues/${path}`)
  t.equal((await watch('1/stopwatch/stop')).status, 409)
  t.equal((await watch('1/stopwatch/delete', 'DELETE')).status, 409)
  t.equal((await watch('1/stopwatch/start')).status, 201)
  t.equal((await watch('1/stopwatch/start')).status, 409)
  await db('stopwatches').update({ created_at: Date.now() - 3_725_000 })
  t.match((await as('ada', 'GET', '/user/stopwatches')).json, [
    { duration: '1 hour 2 minutes', issue_index: 1, issue_title: 'one', repo_name: 'r' },
  ])
  t.strictSame((await as('bob', 'GET', '/user/stopwatches')).json, [])
  t.equal((await watch('2/stopwatch/start')).status, 201, 'which stops the other one')
  const [first = 0] = secondsOf(await as('ada', 'GET', TIMES)) as number[]
  t.ok(first >= 3_725 && first < 3_800, `${first} seconds`)
  t.equal((await watch('2/stopwatch/delete', 'DELETE')).status, 204)
  t.equal((await watch('2/stopwatch/start')).status, 201)
  await as('ada', 'PATCH', `${R}/issues/2`, { state: 'closed' })
  t.strictSame((await as('ada', 'GET', '/user/stopwatches')).json, [], 'stopped by the close')
  const file = { content: '', new_branch: 'topic' }
  await as('ada', 'POST', `${R}/contents/new`, file)
  await as('ada', 'POST', `${R}/pulls`, { title: 'three', head: 'topic', base: 'main' })
  t.equal((await watch('3/stopwatch/start')).status, 201)
  await as('ada', 'PATCH', `${R}/pulls/3`, { state: 'closed' })
  t.strictSame((await as('ada', 'GET', '/user/stopwatches')).json, [], 'stopped by the close')
  t.equal((await as('bob', 'POST', `${R}/issues/1/stopwatch/start`)).status, 403)
  t.match((await as('ada', 'GET', `${R}/issues/2/timeline`)).json, [
    { type: 'start_tracking' },
    { type: 'cancel_tracking' },
    { type: 'start_tracking' },
    { type: 'close' },
    { type: 'stop_tracking' },
  ])
})

t.test('a duration is written in words', async (t) => {
  const words = [59, 60, 3_600, 7_325].map(durationText)
  t.strictSame(words, ['59 seconds', '1 minute', '1 hour', '2 hours 2 minutes'])
})
