/** Search for issues over the API: only in repositories that the caller may read. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

await onOneDatabase(
  t,
  'a search finds the issues that the caller may read',
  async (t, location) => {
    const { as, ask, ada, addToken, db } = await startGatewayWithUsers(t, { location })
    for (const name of ['open', 'secret', 'off']) {
      await as('ada', 'POST', '/user/repos', { name, private: name === 'secret' })
      const body = { title: `of ${name}`, assignees: ['ada'], body: 'for @bob' }
      await as('ada', 'POST', `/repos/ada/${name}/issues`, body)
    }
    await as('bob', 'POST', '/user/repos', { name: 'r' })
    await as('bob', 'POST', '/repos/bob/r/issues', { title: 'of bob', closed: true })
    await as('ada', 'POST', '/repos/ada/off/issues', { title: 'a pull' })
    await db('issues').where({ title: 'a pull' }).update({ is_pull: true })
    await as('ada', 'PATCH', '/repos/ada/off', { has_issues: false })
    const titles = ({ json }: { json: unknown }) =>
      (json as Fields[]).map(({ title }) => title).join()
    const found = async (name: 'ada' | 'bob' | 'root' | 'anyone', query = '') => {
      const answer = await as(name, 'GET', `/repos/issues/search?${query}`)
      t.equal(answer.status, 200)
      return titles(answer)
    }
    t.equal(await found('ada'), 'a pull,of secret,of open')
    t.equal(await found('root'), 'a pull,of secret,of open')
    t.equal(await found('bob'), 'a pull,of open')
    t.equal(await found('anyone', 'state=all'), 'a pull,of bob,of open')
    t.equal(await found('anyone', 'q=secret'), '')
    const long = `/repos/issues/search?q=${'x'.repeat(256)}`
    t.equal((await as('anyone', 'GET', long)).status, 422, 'a long text, which is slow to compare')
    t.equal(await found('ada', 'type=pulls'), 'a pull')
    t.equal(await found('ada', 'type=issues&q=SECRET'), 'of secret')
    t.equal(await found('ada', 'owner=ADA&state=all&type=issues'), 'of secret,of open')
    t.equal(await found('ada', 'owner=bob&state=all'), 'of bob')
    t.equal(await found('ada', 'owner=nobody'), '')
    t.equal(await found('bob', 'created=true&state=all'), 'of bob')
    t.equal(await found('bob', 'mentioned=true'), 'of open')
    t.equal(await found('ada', 'assigned=true'), 'of secret,of open')
    const { plain } = await addToken(ada, 'public-only', 'read:issue')
    const limited = await ask({
      path: '/api/v1/repos/issues/search',
      authorization: withToken(plain),
    })
    t.equal(titles(limited), 'a pull,of open', 'a token limited to public repositories')
    const paged = await as('ada', 'GET', '/repos/issues/search?limit=1&page=2&created=true')
    t.equal(titles(paged), 'of secret')
    t.match(paged.headers['x-total-count'], '3')
    t.match(paged.headers['link'], /search\?created=true&limit=1&page=3>; rel="next"/)
    t.match(paged.json, [{ repository: { full_name: 'ada/secret', owner: 'ada' } }])
    t.equal((await as('ada', 'GET', '/repos/issues/search?since=x')).status, 422)
  },
)
