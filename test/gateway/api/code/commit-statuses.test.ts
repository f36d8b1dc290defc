/** Commit statuses over the API: created, listed, and combined. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { refusal, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { git } from '../../../helpers/git-client.js'

type Fields = Record<string, unknown>

const NOT_FOUND = refusal('not found')

/** Creates ada's repository `engine` with a branch that has a slash in its name. */
async function startFixture(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  const { as } = gateway
  await as('ada', 'POST', '/user/repos', { name: 'engine', auto_init: true })
  const cwd = await gateway.pathOf('ada', 'engine')
  await git(['branch', 'renovate/all', 'main'], { cwd })
  await git(['tag', '-a', '-m', 'One', 'v1', 'main'], { cwd })
  const sha = await git(['rev-parse', 'main'], { cwd })
  const path = '/repos/ada/engine'
  const say = (state: string, context?: string, name = sha) =>
    as('ada', 'POST', `${path}/statuses/${name}`, { state, context, description: `is ${state}` })
  return { ...gateway, cwd, sha, path, say }
}

await onOneDatabase(t, 'a status is created and read with every field', async (t, location) => {
  const { as, sha, path, say } = await startFixture(t, location)
  const body = { state: 'pending', target_url: 'https://ci.example.com/1?a=b' }
  const first = await as('ada', 'POST', `${path}/statuses/${sha}`, body)
  t.equal(first.status, 201, first.text)
  const fixed = JSON.parse(first.text.replaceAll(sha, 'SHA'))
  isExpected(t, fixed, 'api/commit-status')
  t.match(first.json, { status: 'pending', context: 'default' })
  await say('success', 'build', sha.slice(0, 10))
  await say('warning', 'lint', 'renovate%2Fall')
  await say('failure', 'build', 'v1')
  const listed = async (rest: string) => {
    const { json, status, headers } = await as('anyone', 'GET', path + rest)
    t.equal(status, 200, rest)
    const said = (json as Fields[]).map(({ status, context }) => `${status} ${context}`)
    return [headers['x-total-count'], ...said]
  }
  const all = ['4', 'failure build', 'warning lint', 'success build', 'pending default']
  const oldest = ['4', ...all.slice(1).reverse()]
  for (const name of [sha, 'main', 'v1', 'renovate%2Fall', 'refs%2Fheads%2Fmain']) {
    t.strictSame(await listed(`/statuses/${name}`), all, name)
    t.strictSame(await listed(`/commits/${name}/statuses`), all, name)
  }
  for (const sort of ['oldest', 'leastupdate', 'leastindex']) {
    t.strictSame(await listed(`/statuses/main?sort=${sort}`), oldest, sort)
  }
  for (const sort of ['recentupdate', 'highestindex', '', 'x']) {
    t.strictSame(await listed(`/statuses/main?sort=${sort}`), all, sort)
  }
  t.strictSame(await listed('/statuses/main?state=success'), ['1', 'success build'])
  t.strictSame(await listed('/statuses/main?page=0&limit=50'), all)
  t.strictSame(await listed('/commits/main/statuses?limit=1&page=2'), ['4', 'warning lint'])
  const { headers } = await as('anyone', 'GET', `${path}/commits/renovate%2Fall/statuses?limit=3`)
  const next = `${BASE_URL}/api/v1${path}/commits/renovate%2Fall/statuses?limit=3&page=2`
  t.match(headers['link'], `<${next}>; rel="next"`)
})

await onOneDatabase(
  t,
  'the combined status is the most severe one of all contexts',
  async (t, location) => {
    const { as, sha, path, say } = await startFixture(t, location)
    const combined = async (query = '') => {
      const answer = await as('anyone', 'GET', `${path}/commits/renovate%2Fall/status${query}`)
      t.equal(answer.status, 200, answer.text)
      return answer
    }
    const none = await combined()
    isExpected(t, JSON.parse(none.text.replaceAll(sha, 'SHA')), 'api/combined-status-none')
    const states: unknown[] = []
    for (const [state, context] of [
      ['skipped', 'docs'],
      ['success', 'build'],
      ['pending', 'deploy'],
      ['warning', 'lint'],
      ['failure', 'test'],
      ['error', 'build'],
      ['success', 'build'],
      ['success', 'test'],
      ['success', 'lint'],
      ['success', 'deploy'],
    ] as const) {
      await say(state, context)
      states.push(((await combined()).json as Fields)['state'])
    }
    t.strictSame(states, [
      'success',
      'success',
      'pending',
      'pending',
      'failure',
      'error',
      'failure',
      'pending',
      'pending',
      'success',
    ])
    const { json, headers } = await combined('?limit=2')
    const next = `${BASE_URL}/api/v1${path}/commits/renovate%2Fall/status?limit=2&page=2`
    t.match(headers, { 'x-total-count': '5', link: `<${next}>; rel="next"` })
    const { statuses, ...rest } = json as Fields & { statuses: Fields[] }
    t.match(rest, { total_count: 5, sha, commit_url: `${BASE_URL}/api/v1${path}/commits/${sha}` })
    t.strictSame(
      statuses.map(({ status, context }) => `${status} ${context}`),
      ['success deploy', 'success lint'],
    )
  },
)

await onOneDatabase(t, 'an invalid status or a missing commit is refused', async (t, location) => {
  const { as, path, sha, cwd, lines } = await startFixture(t, location)
  const said = async (name: string, body: Fields) => {
    const { status, json } = await as('ada', 'POST', `${path}/statuses/${name}`, body)
    return [status, (json as { message: string }).message]
  }
  const { message } = NOT_FOUND
  const tree = await git(['rev-parse', 'main^{tree}'], { cwd })
  for (const name of [
    'absent',
    '0'.repeat(40),
    'main~0',
    'main:README.md',
    '--help',
    '-d',
    tree,
    'abc',
    '--output=%2Ftmp%2Fp',
    '%40%7B0%7D',
    '..%2f..',
    '%00',
    'main%0A',
  ]) {
    t.strictSame(await said(name, { state: 'success' }), [404, message], name)
    for (const rest of [
      `/statuses/${name}`,
      `/commits/${name}/status`,
      `/commits/${name}/statuses`,
    ]) {
      const { status, json } = await as('anyone', 'GET', path + rest)
      t.equal(status, 404, rest)
      t.strictSame(json, NOT_FOUND)
    }
  }
  t.strictSame(await said(sha, {}), [422, '[State]: Required'])
  for (const body of [
    { state: 'great' },
    { state: '' },
    { state: 1 },
    { state: 'success', context: 1 },
    { state: 'success', context: 'x'.repeat(256) },
    { state: 'success', description: 'x'.repeat(4_097) },
    ...['javascript:alert(1)', 'data:text/html,x', '/relative', 'no address', 'file:///x'].map(
      (target_url) => ({ state: 'success', target_url }),
    ),
  ]) {
    t.equal((await said(sha, body))[0], 422, JSON.stringify(body).slice(0, 60))
  }
  for (const rest of ['/statuses/main', '/commits/main/statuses']) {
    t.equal((await as('ada', 'GET', `${path}${rest}?state=great`)).status, 400)
    t.equal((await as('ada', 'GET', `${path}${rest}?state=`)).status, 200)
  }
  const none = await as('ada', 'GET', `${path}/statuses/main`)
  t.strictSame(none.json, [], 'no status is stored')
  t.notMatch(JSON.stringify(lines), /usage: git|fatal:/)
})

await onOneDatabase(
  t,
  'a status is created by writers and read by readers',
  async (t, location) => {
    const { as, path, sha, say } = await startFixture(t, location)
    const body = { state: 'success' }
    t.equal((await as('bob', 'POST', `${path}/statuses/${sha}`, body)).status, 403)
    t.equal((await as('anyone', 'POST', `${path}/statuses/${sha}`, body)).status, 401)
    await say('success', 'build')
    await as('ada', 'PATCH', path, { archived: true })
    t.equal((await say('failure', 'build')).status, 423)
    t.match((await as('bob', 'GET', `${path}/commits/main/status`)).json, { state: 'success' })
    await as('ada', 'PATCH', path, { archived: false, private: true })
    for (const rest of ['/commits/main/status', '/commits/main/statuses', '/statuses/main']) {
      t.strictSame((await as('bob', 'GET', path + rest)).json, NOT_FOUND)
    }
    await as('ada', 'POST', '/user/repos', { name: 'other', auto_init: true })
    t.equal((await as('ada', 'GET', `/repos/ada/other/statuses/${sha}`)).status, 404)
  },
)
