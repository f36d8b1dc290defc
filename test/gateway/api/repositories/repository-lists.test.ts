/** Lists and searches of repositories over the API, for each kind of caller. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { addSource } from '../../../../sql/repositories/repository-sources.js'
import { forEachDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { type Answer, withToken } from '../../../helpers/requests.js'

type Fields = Record<string, unknown>

const namesOf = ({ json }: Answer) => {
  const list = Array.isArray(json) ? json : ((json as Fields)['data'] as unknown[])
  return list.map((entry) => (entry as Fields)['full_name'])
}

/** Creates repositories of ada and of two of her organizations, one of which is private. */
async function startFixture(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  const { as, ada, addOrganization } = gateway
  await addOrganization('club', ada, 'public')
  await addOrganization('den', ada, 'private')
  const places = ['/user/repos', '/orgs/club/repos', '/orgs/den/repos']
  for (const place of places) {
    await as('ada', 'POST', place, { name: 'Open', description: 'of brass' })
    await as('ada', 'POST', place, { name: 'shut', private: true })
  }
  const { plain } = await gateway.addToken(ada, 'public-only', 'all')
  const publicOnly = (path: string) =>
    gateway.ask({ path: `/api/v1${path}`, authorization: withToken(plain) })
  return { ...gateway, publicOnly }
}

await forEachDatabase(
  t,
  'each list shows the repositories that the caller may see',
  async (t, location) => {
    const { as, publicOnly } = await startFixture(t, location)
    const club = ['club/Open', 'club/shut']
    const expected: readonly [string, Name, readonly string[] | number][] = [
      ['/orgs/club/repos', 'ada', club],
      ['/orgs/club/repos', 'root', club],
      ['/orgs/club/repos', 'bob', ['club/Open']],
      ['/orgs/club/repos', 'anyone', ['club/Open']],
      ['/orgs/den/repos', 'ada', ['den/Open', 'den/shut']],
      ['/orgs/den/repos', 'bob', 404],
      ['/orgs/den/repos', 'anyone', 404],
      ['/orgs/absent/repos', 'ada', 404],
      ['/orgs/ada/repos', 'ada', 404],
      ['/users/ADA/repos', 'ada', ['ada/Open', 'ada/shut']],
      ['/users/ada/repos', 'bob', ['ada/Open']],
      ['/users/ada/repos', 'anyone', ['ada/Open']],
      ['/users/club/repos', 'anyone', ['club/Open']],
      ['/users/den/repos', 'bob', 404],
      ['/users/absent/repos', 'anyone', 404],
    ]
    for (const [path, name, wanted] of expected) {
      const answer = await as(name, 'GET', path)
      if (typeof wanted === 'number') t.equal(answer.status, wanted, `${name} ${path}`)
      else {
        t.strictSame(namesOf(answer), wanted, `${name} ${path}`)
        t.equal(answer.headers['x-total-count'], String(wanted.length))
      }
    }
    t.strictSame(namesOf(await publicOnly('/orgs/club/repos')), ['club/Open'])
    t.strictSame(namesOf(await publicOnly('/users/ada/repos')), ['ada/Open'])
    t.equal((await publicOnly('/orgs/den/repos')).status, 403)
    t.strictSame(namesOf(await publicOnly('/repos/search')), ['ada/Open', 'club/Open'])
    t.equal((await publicOnly('/user/repos')).status, 403)
    const limited = await as('bob', 'GET', '/orgs/club/repos?limit=1')
    t.notOk('link' in limited.headers, 'hidden repositories are not counted')
    const own = await as('ada', 'GET', '/orgs/club/repos?limit=1&page=2')
    t.strictSame(namesOf(own), ['club/shut'])
    t.equal(
      own.headers['link'],
      `<${BASE_URL}/api/v1/orgs/club/repos?limit=1&page=1>; rel="first",` +
        `<${BASE_URL}/api/v1/orgs/club/repos?limit=1&page=1>; rel="prev"`,
    )
  },
)

await forEachDatabase(
  t,
  'a repository is found by its id if the caller may see it',
  async (t, location) => {
    const { as, publicOnly } = await startFixture(t, location)
    const { id } = (await as('ada', 'GET', '/repos/ada/shut')).json as { id: number }
    t.match((await as('ada', 'GET', `/repositories/${id}`)).json, { full_name: 'ada/shut' })
    for (const path of [`/repositories/${id}`, '/repositories/999999', '/repositories/x']) {
      t.equal((await as('bob', 'GET', path)).status, 404, path)
      t.equal((await as('anyone', 'GET', path)).status, 404, path)
    }
    t.equal((await publicOnly(`/repositories/${id}`)).status, 403)
  },
)

await forEachDatabase(t, 'a search applies all its filters', async (t, location) => {
  const { as, db, ada, bob } = await startFixture(t, location)
  await as('ada', 'PATCH', '/repos/club/open', { archived: true })
  await as('ada', 'PATCH', '/repos/ada/open', { template: true })
  await as('ada', 'PUT', '/repos/ada/shut/topics', { topics: ['brass'] })
  await as('ada', 'PUT', '/repos/club/shut/collaborators/bob', { permission: 'write' })
  await as('bob', 'POST', '/user/repos', { name: 'own' })
  const found = async (query: string, name: Name = 'ada') => {
    const answer = await as(name, 'GET', `/repos/search?limit=50${query}`)
    t.equal(answer.status, 200, `${query} ${answer.text.slice(0, 80)}`)
    t.equal((answer.json as Fields)['ok'], true)
    return namesOf(answer).join(' ')
  }
  const open = 'ada/Open club/Open den/Open'
  t.equal(await found('&q=OPEN'), open)
  t.equal(await found('&q=brass'), '')
  const described = await found('&q=BRASS&includeDesc=true')
  t.equal(described, `${open} ada/shut`, 'the text is also the name of a topic')
  t.equal(await found('&q=brass&topic=true'), 'ada/shut')
  t.equal(await found('&q=ras&topic=true'), '', 'a topic matches as a whole')
  t.equal(await found('&q=club/pe'), 'club/Open')
  t.equal(await found('&q=%25'), '', 'no character is a wildcard')
  t.equal(await found('&q=open&archived=true'), 'club/Open')
  t.equal(await found('&q=open&archived=false&template=false'), 'den/Open')
  t.equal(await found('&template=true'), 'ada/Open')
  t.equal(await found(`&uid=${ada.id}&exclusive=true`), 'ada/Open ada/shut')
  t.equal(await found(`&uid=${ada.id}&is_private=true`), 'ada/shut club/shut den/shut')
  t.equal(await found(`&uid=${ada.id}&private=false&sort=id`), open)
  t.equal(await found(`&uid=${bob.id}`, 'bob'), 'bob/own club/shut')
  t.equal(await found(`&uid=${bob.id}&mode=collaborative`, 'bob'), 'club/shut')
  t.equal(
    await found(`&uid=${bob.id}`, 'anyone'),
    'bob/own',
    'of another user only public repositories',
  )
  t.equal(await found('&mode=fork'), '')
  t.equal(await found('&mode=mirror'), '')
  const { id } = (await as('ada', 'GET', '/repos/ada/open')).json as { id: number }
  const url = 'https://source.example/open.git'
  await addSource(db, id, {
    url,
    mirror: { intervalMs: 0, credentialsSealed: undefined, hasWiki: false, lfs: undefined },
  })
  t.equal(await found('&mode=mirror'), 'ada/Open')
  t.equal(await found('&mode=source&q=open'), 'club/Open den/Open')
  t.equal(await found('&q=sh&sort=id&order=desc'), 'den/shut club/shut ada/shut')
  t.equal(await found(`&q=open&priority_owner_id=${ada.id}`), open)
  const wrong = async (query: string) => (await as('ada', 'GET', `/repos/search?${query}`)).status
  for (const query of ['sort=x', 'sort=id&order=x', 'mode=x', 'mode=__proto__']) {
    t.equal(await wrong(query), 422, query)
  }
  t.match((await as('bob', 'GET', '/repos/search?q=club/shut')).json, {
    data: [{ permissions: { admin: false, push: true, pull: true } }],
  })
  t.match((await as('anyone', 'GET', '/repos/search?q=o&limit=1')).headers, {
    link: /q=o&limit=1&page=2>; rel="next"/,
  })
})

await forEachDatabase(
  t,
  "a user's list has repositories from teams and collaborations",
  async (t, location) => {
    const { as } = await startFixture(t, location)
    t.strictSame(namesOf(await as('bob', 'GET', '/user/repos')), [])
    await as('ada', 'PUT', '/repos/ada/shut/collaborators/bob', { permission: 'read' })
    const made = await as('ada', 'POST', '/orgs/den/teams', { name: 'w', permission: 'write' })
    const team = `/teams/${(made.json as Fields)['id']}`
    await as('ada', 'PUT', `${team}/members/bob`)
    t.strictSame(namesOf(await as('bob', 'GET', '/user/repos')), ['ada/shut'])
    t.equal(
      (await as('bob', 'GET', '/repos/den/shut')).status,
      404,
      'the team does not have it yet',
    )
    t.equal(
      (await as('bob', 'GET', '/repos/den/open')).status,
      200,
      'a member sees public repositories',
    )
    await as('ada', 'PUT', `${team}/repos/den/shut`)
    const list = await as('bob', 'GET', '/user/repos')
    t.strictSame(namesOf(list), ['ada/shut', 'den/shut'])
    t.match(list.json, [
      { permissions: { admin: false, push: false, pull: true } },
      { permissions: { admin: false, push: true, pull: true } },
    ])
    await as('ada', 'DELETE', `${team}/repos/den/shut`)
    t.equal((await as('bob', 'GET', '/repos/den/shut')).status, 404, 'and is removed immediately')
  },
)
