/** Topics over the API: set, added, removed and found. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const TOPICS = '/repos/ada/r/topics'

await onOneDatabase(t, 'topics of a repository are set, added and removed', async (t, location) => {
  const { as } = await startGatewayWithUsers(t, { location })
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const topics = async () => (await as('anyone', 'GET', TOPICS)).json
  t.strictSame(await topics(), { topics: [] })
  const put = (topics: readonly string[]) => as('ada', 'PUT', TOPICS, { topics })
  t.equal((await put(['Wheels', ' wheels ', '', 'a.b-c'])).status, 204)
  t.strictSame(await topics(), { topics: ['a.b-c', 'wheels'] })
  t.equal((await as('ada', 'PUT', `${TOPICS}/1st`)).status, 204)
  t.equal((await as('ada', 'PUT', `${TOPICS}/1st`)).status, 204)
  t.match((await as('ada', 'GET', '/repos/ada/r')).json, { topics: ['1st', 'a.b-c', 'wheels'] })
  t.match((await as('ada', 'GET', '/user/repos')).json, [{ topics: ['1st', 'a.b-c', 'wheels'] }])
  t.match(await as('ada', 'GET', `${TOPICS}?limit=2&page=2`), {
    headers: { 'x-total-count': '3' },
    json: { topics: ['wheels'] },
  })
  t.equal((await as('ada', 'DELETE', `${TOPICS}/wheels`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${TOPICS}/wheels`)).status, 404)
  t.strictSame(await topics(), { topics: ['1st', 'a.b-c'] })
  const wrong = await put(['good', 'ba d', 'x'.repeat(36), '-x'])
  t.equal(wrong.status, 422)
  t.strictSame(wrong.json, {
    message: 'Topic names are invalid',
    invalidTopics: ['ba d', 'x'.repeat(36), '-x'],
  })
  t.equal((await as('ada', 'PUT', `${TOPICS}/a%20b`)).status, 422)
  const many = Array.from({ length: 25 }, (_, n) => `t${n}`)
  t.equal((await put([...many, 't25'])).status, 422)
  t.equal((await put(many)).status, 204)
  t.equal((await as('ada', 'PUT', `${TOPICS}/t25`)).status, 422)
  t.equal((await as('bob', 'PUT', TOPICS, { topics: [] })).status, 403)
  t.equal((await as('ada', 'PUT', TOPICS, {})).status, 204)
  t.strictSame(await topics(), { topics: [] })
})

await onOneDatabase(
  t,
  'topics are found only in repositories that the caller may see',
  async (t, location) => {
    const { as } = await startGatewayWithUsers(t, { location })
    for (const [name, isPrivate] of [['r', false] as const, ['s', true] as const]) {
      await as('ada', 'POST', '/user/repos', { name, private: isPrivate })
      const topics = ['engine', isPrivate ? 'engine-secret' : 'engine-open']
      await as('ada', 'PUT', `/repos/ada/${name}/topics`, { topics })
    }
    const found = async (name: Name, query: string) => {
      const { json, headers } = await as(name, 'GET', `/topics/search?${query}`)
      const { topics } = json as { topics: { topic_name: string; repo_count: number }[] }
      t.equal(headers['x-total-count'], String(topics.length))
      return topics.map((topic) => `${topic.topic_name} ${topic.repo_count}`)
    }
    t.strictSame(await found('ada', 'q=GINE'), ['engine 2', 'engine-open 1', 'engine-secret 1'])
    for (const name of ['bob', 'anyone'] as const) {
      t.strictSame(await found(name, 'q=engine'), ['engine 1', 'engine-open 1'], name)
    }
    t.strictSame(await found('ada', 'q=%25'), [])
  },
)
