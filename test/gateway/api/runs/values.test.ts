/** Secrets and variables over the API, in each scope, through the client of Gitea's description. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { throughGiteaClient } from '../../../helpers/gitea-client.js'

const SCOPES = [
  ['ada', '/repos/ada/r'],
  ['ada', '/orgs/club'],
  ['ada', '/user'],
  ['root', '/admin'],
] as const

const SECRET = 'very secret value'

async function start(t: Test, location?: DatabaseLocation) {
  const plain = await startGatewayWithUsers(t, location === undefined ? {} : { location })
  const { gateway, called } = throughGiteaClient(plain)
  const club = await gateway.addOrganization('club', gateway.ada)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  await gateway.as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const of =
    (name: Parameters<typeof gateway.as>[0], home: string) =>
    (method: string, path: string, body?: unknown) =>
      gateway.as(name, method, `${home}/actions${path}`, body)
  return { ...gateway, club, called, of }
}

await onOneDatabase(t, 'secrets are set and deleted, but never shown', async (t, location) => {
  const { of, called } = await start(t, location)
  for (const [name, home] of SCOPES) {
    const ask = of(name, home)
    const set = await ask('PUT', '/secrets/key', { data: SECRET, description: 'For the server' })
    t.equal(set.status, 201, home)
    t.notMatch(set.text, SECRET)
    t.equal((await ask('PUT', '/secrets/KEY', { data: `${SECRET} 2` })).status, 204)
    if (home !== '/user') {
      const listed = await ask('GET', '/secrets')
      t.match(listed.json, [{ name: 'KEY', created_at: /^\d{4}-.*Z$/ }])
      t.equal((listed.json as unknown[]).length, 1)
      t.notMatch(listed.text, SECRET)
      t.equal(listed.headers['x-total-count'], '1')
    }
    t.equal((await ask('GET', '/secrets/KEY')).status, 405, 'no route reads it')
    t.equal((await ask('DELETE', '/secrets/key')).status, 204)
    t.equal((await ask('DELETE', '/secrets/key')).status, 404)
  }
  t.ok(called.has('updateRepoSecret'))
})

await onOneDatabase(t, 'variables are created, renamed and deleted', async (t, location) => {
  const { of, ada, club, called } = await start(t, location)
  const ownerIds: Readonly<Record<string, number>> = { '/user': ada.id, '/orgs/club': club.id }
  for (const [name, home] of SCOPES) {
    const ask = of(name, home)
    t.equal((await ask('POST', '/variables/level', { value: 'one\r\ntwo' })).status, 201, home)
    t.equal((await ask('POST', '/variables/LEVEL', { value: '2' })).status, 409)
    t.strictSame((await ask('GET', '/variables/Level')).json, {
      owner_id: ownerIds[home] ?? 0,
      repo_id: home === '/repos/ada/r' ? 1 : 0,
      name: 'LEVEL',
      data: 'one\ntwo',
      description: '',
    })
    await ask('POST', '/variables/other', { value: '' })
    t.equal((await ask('PUT', '/variables/other', { value: '3', name: 'level' })).status, 409)
    const renamed = { value: '3', name: 'depth', description: 'd' }
    t.equal((await ask('PUT', '/variables/other', renamed)).status, 204)
    t.equal((await ask('PUT', '/variables/level', { value: '4' })).status, 204, 'keeps its name')
    t.match((await ask('GET', '/variables')).json, [
      { name: 'DEPTH', data: '3', description: 'd' },
      { name: 'LEVEL', data: '4' },
    ])
    t.equal((await ask('DELETE', '/variables/DEPTH')).status, 204)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { value: 'x' } : undefined
      t.equal((await ask(method, '/variables/DEPTH', body)).status, 404, method)
    }
  }
  t.ok(called.has('createRepoVariable'))
})

t.test('names and values that are not permitted are refused with the reason', async (t) => {
  const { of } = await start(t)
  const ask = of('ada', '/user')
  const rows: ReadonlyArray<readonly [name: string, value: string, message: RegExp]> = [
    ['1A', 'x', /must have 1 to 255 letters, digits and underscores/],
    ['A-B', 'x', /must have 1 to 255 letters/],
    ['A'.repeat(256), 'x', /must have 1 to 255 letters/],
    ['ci', 'x', /'CI' is reserved. CI and names that begin with GITEA_, GITHUB_ or FORGEJO_ are/],
    ['github_x', 'x', /'GITHUB_X' is reserved/],
    ['Gitea_x', 'x', /is reserved/],
    ['FORGEJO_TOKEN', 'x', /is reserved/],
    ['LONG', 'ä'.repeat(32_769), /longer than 65536 bytes/],
  ]
  for (const [name, value, message] of rows) {
    const secret = await ask('PUT', `/secrets/${name}`, { data: value })
    t.match([secret.status, secret.text], [400, message], name)
    const variable = await ask('POST', `/variables/${name}`, { value })
    t.match([variable.status, variable.text], [400, message], name)
  }
  const empty = await ask('PUT', '/secrets/EMPTY', { data: '' })
  t.match([empty.status, empty.text], [400, /The value of the secret is empty/])
  const described = { data: 'x', description: 'd'.repeat(4_097) }
  t.equal((await ask('PUT', '/secrets/A', described)).status, 400)
  t.equal((await ask('PUT', '/secrets/A', {})).status, 422)
  t.equal((await ask('PUT', '/secrets/CI_2', { data: 'ä'.repeat(32_768) })).status, 201)
})

t.test('only administrators of a scope use its secrets and variables', async (t) => {
  const { as, of } = await start(t)
  await as('ada', 'PUT', '/repos/ada/r/collaborators/bob', { permission: 'write' })
  const paths = ['/variables', '/variables/A', '/secrets']
  for (const [home, status] of [
    ['/repos/ada/r', 403],
    ['/orgs/club', 403],
    ['/admin', 403],
  ] as const) {
    for (const path of paths) {
      t.equal((await of('bob', home)('GET', path)).status, status, home + path)
    }
    t.equal((await of('bob', home)('PUT', '/secrets/A', { data: 'x' })).status, status, home)
    t.equal((await of('bob', home)('POST', '/variables/A', { value: 'x' })).status, status, home)
  }
  await of('ada', '/user')('POST', '/variables/A', { value: 'x' })
  t.strictSame((await of('bob', '/user')('GET', '/variables')).json, [])
})

t.test(
  'values of a repository can be set before it has Actions, unless the site has none',
  async (t) => {
    for (const [isEnabled, isSet, isRead] of [
      ['true', 201, 200],
      ['false', 404, 404],
    ] as const) {
      const { as } = await startGatewayWithUsers(t, {
        environment: { GATEHOUSE_ACTIONS_ENABLED: isEnabled },
      })
      await as('ada', 'POST', '/user/repos', { name: 'without' })
      const home = '/repos/ada/without/actions'
      t.equal((await as('ada', 'PUT', `${home}/secrets/A`, { data: 'x' })).status, isSet)
      t.equal((await as('ada', 'POST', `${home}/variables/A`, { value: 'x' })).status, isSet)
      t.equal((await as('ada', 'GET', `${home}/variables`)).status, isRead)
      t.equal((await as('ada', 'GET', `${home}/workflows`)).status, 404, 'nothing else is served')
    }
  },
)
