/** Settings of an owner's packages over the API: immutability, protected versions and quotas. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { type Name, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const SETTINGS = '/packages/ada/-/settings'
const PROTECTIONS = '/packages/ada/-/protections'
const QUOTA = '/admin/packages/ada/quota'

async function openGateway(
  t: Test,
  location: DatabaseLocation,
  environment: Readonly<Record<string, string>> = {},
) {
  const gateway = await startGatewayWithUsers(t, { location, environment })
  const send = async (name: Name, method: string, path: string, text?: string) =>
    await gateway.ask({
      method,
      path: `/api/packages/ada/generic/${path}`,
      body: text === undefined ? undefined : Buffer.from(text),
      authorization: gateway.authorizationOf(name),
    })
  return { ...gateway, send }
}

await onOneDatabase(
  t,
  'a protected version is deleted on no surface until its pattern is removed',
  async (t, location) => {
    const { as, send } = await openGateway(t, location)
    for (const version of ['1.0', '1.0-rc1']) await send('ada', 'PUT', `Tool/${version}/f`, 'x')
    const sent = { type: 'generic', pattern: 'tool/\\d+\\.\\d+' }
    const created = await as('ada', 'POST', PROTECTIONS, sent)
    t.match(created, { status: 201, json: sent })
    t.match(await as('ada', 'GET', PROTECTIONS), { status: 200, json: [created.json] })
    t.equal((await as('ada', 'POST', PROTECTIONS, sent)).status, 409)
    const message = '"Tool/1.0" is protected by the pattern "tool/\\\\d+\\\\.\\\\d+"'
    for (const name of ['ada', 'root'] as const) {
      for (const path of ['Tool/1.0', 'Tool/1.0/f']) {
        const refused = await send(name, 'DELETE', path)
        t.equal(refused.status, 409, path)
        t.ok(refused.text.startsWith(message), refused.text)
      }
      for (const path of ['tool/1.0', 'tool']) {
        const refused = await as(name, 'DELETE', `/packages/ada/generic/${path}`)
        t.match(refused, { status: 409, json: { message: /is protected by the pattern/ } }, path)
      }
    }
    t.equal((await send('ada', 'DELETE', 'Tool/1.0/absent')).status, 404)
    t.equal((await send('ada', 'DELETE', 'Tool/9.0')).status, 404)
    t.equal((await send('ada', 'DELETE', 'Tool/1.0-rc1')).status, 204)
    const { id } = created.json as { readonly id: number }
    t.equal((await as('bob', 'DELETE', `${PROTECTIONS}/${id}`)).status, 403)
    t.equal((await as('bob', 'DELETE', `/packages/bob/-/protections/${id}`)).status, 404)
    t.equal((await as('ada', 'DELETE', `${PROTECTIONS}/${id}`)).status, 204)
    t.equal((await send('ada', 'DELETE', 'Tool/1.0')).status, 204)
  },
)

await forEachDatabase(
  t,
  'patterns are checked, and their number is limited',
  async (t, location) => {
    const { as } = await openGateway(t, location)
    const add = (pattern: string) => as('ada', 'POST', PROTECTIONS, { type: 'go', pattern })
    t.match(await add('('), { status: 422, json: { message: /not a regular expression/ } })
    t.equal((await add('')).status, 422)
    const results = await Promise.all(Array.from({ length: 52 }, (_, n) => add(`p${n}`)))
    t.equal(results.filter(({ status }) => status === 201).length, 50)
    t.match(await add('another'), { status: 422, json: { message: /at most 50 patterns/ } })
    const missing = await as('ada', 'POST', PROTECTIONS, { type: 'dummy', pattern: 'a' })
    t.equal(missing.status, 422)
  },
)

await onOneDatabase(
  t,
  'a deleted file of an immutable owner returns with the same bytes only',
  async (t, location) => {
    const { as, send } = await openGateway(t, location)
    t.match((await as('ada', 'GET', SETTINGS)).json, { immutable: false })
    const edited = await as('ada', 'PATCH', SETTINGS, { immutable: true })
    t.match(edited, { status: 200, json: { immutable: true, versions: 0, size: 0 } })
    for (const path of ['tool/1.0', 'tool/1.0/f']) {
      t.equal((await send('ada', 'PUT', 'tool/1.0/f', 'one')).status, 201)
      t.equal((await send('ada', 'DELETE', path)).status, 204)
      for (const name of ['ada', 'root'] as const) {
        const refused = await send(name, 'PUT', 'tool/1.0/f', 'two')
        t.match(refused, { status: 409, text: /packages of this owner are immutable/ }, name)
      }
    }
    t.equal((await send('ada', 'PUT', 'tool/1.0/f', 'one')).status, 201)
    t.equal((await as('bob', 'PATCH', SETTINGS, { immutable: false })).status, 403)
  },
)

await onOneDatabase(t, 'administrators replace the quotas of an owner', async (t, location) => {
  const { as, send } = await openGateway(t, location, {
    GATEHOUSE_PACKAGES_OWNER_VERSIONS_MAX: '2',
    GATEHOUSE_PACKAGES_OWNER_SIZE_MAX: '100',
  })
  const publish = (version: number, name: Name = 'ada', text = `${version}`) =>
    send(name, 'PUT', `tool/${version}/f`, text)
  const tooMany = { status: 403, text: 'maximum allowed package count exceeded' }
  for (const version of [1, 2]) t.equal((await publish(version)).status, 201)
  t.match(await publish(3), tooMany)
  t.equal((await publish(3, 'root')).status, 201, 'administrators have no quota')
  const usage = { versions: 3, size: 3, versions_max: 2, size_max: 100 }
  t.match((await as('ada', 'GET', SETTINGS)).json, usage)
  t.equal((await as('ada', 'PUT', QUOTA, { versions_max: -1 })).status, 403)
  const set = await as('root', 'PUT', QUOTA, { versions_max: 4, size_max: -1 })
  t.match(set, { status: 200, json: { versions_max: 4, size_max: -1 } })
  t.equal((await publish(4, 'ada', 'x'.repeat(200))).status, 201)
  t.match(await publish(5), tooMany)
  const none = await as('root', 'PUT', QUOTA, {})
  t.match(none.json, { versions_max: 2, size_max: 100 }, 'absent quotas are those configured')
  const tooMuch = { status: 403, text: 'maximum allowed package storage quota exceeded' }
  t.match(await publish(5), tooMuch)
  t.equal((await as('root', 'PUT', '/admin/packages/nobody/quota', {})).status, 404)
  t.equal((await as('root', 'PUT', QUOTA, { versions_max: -2 })).status, 422)
})
