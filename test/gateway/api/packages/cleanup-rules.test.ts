/** Cleanup rules over the API: edited by the owner, previewed, and run in the background. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { forEachDatabase, onOneDatabase } from '../../../helpers/databases.js'
import { BASE_URL } from '../../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aTeam } from '../../../helpers/rows.js'

const RULES = '/packages/ada/-/cleanup-rules'
const RULE = `${RULES}/generic`

async function openGateway(t: Test, location: DatabaseLocation) {
  const environment = { GATEHOUSE_MAINTENANCE_ENABLED: 'true' }
  const gateway = await startGatewayWithUsers(t, { location, environment })
  const { ask, authorizationOf } = gateway
  const send = async (method: string, path: string, body?: Buffer) =>
    await ask({
      method,
      path: `/api/packages/${path}`,
      body,
      authorization: authorizationOf('ada'),
    })
  const publish = async (...places: readonly string[]) => {
    for (const place of places) {
      t.equal((await send('PUT', `ada/generic/${place}/f`, Buffer.from(place))).status, 201, place)
    }
  }
  return { ...gateway, send, publish }
}

await forEachDatabase(
  t,
  'a rule is previewed while it is disabled, and removes the same versions when it runs',
  async (t, location) => {
    const { as, send, publish } = await openGateway(t, location)
    await publish('App/1.0', 'App/2.0-rc1', 'App/2.0', 'tool/1.0')
    const sent = {
      keep_count: 1,
      keep_pattern: '2\\.0',
      remove_pattern: 'app/.*',
      match_full_name: true,
    }
    const rule = { type: 'generic', enabled: false, remove_days: 0, ...sent, last_run: null }
    t.match(await as('ada', 'PUT', RULE, sent), { status: 200, json: rule })
    t.match(await as('ada', 'GET', RULES), { status: 200, json: [rule] })
    const preview = await as('ada', 'GET', `${RULE}/preview`)
    const listed = [
      { name: 'App', version: '2.0-rc1' },
      { name: 'App', version: '1.0' },
    ]
    t.match(preview, { status: 200, json: { versions: 2, size: 18, listed } })
    const second = await as('ada', 'GET', `${RULE}/preview?page=2&limit=1`)
    t.match(second.json, { versions: 2, listed: [{ version: '1.0' }] })
    const first = `${BASE_URL}/api/v1${RULE}/preview?limit=1&page=1`
    t.match(second.headers['link'], `<${first}>; rel="first"`)

    const disabled = { status: 422, json: { message: /The rule is disabled/ } }
    t.match(await as('ada', 'POST', `${RULE}/run`), disabled)
    await as('ada', 'PUT', RULE, { ...sent, enabled: true })
    t.equal((await as('ada', 'POST', `${RULE}/run`)).status, 202)
    const result = await waitForRun(() => as('ada', 'GET', RULE))
    t.match(result, { versions: 2, size: 18, error: '' })
    const versions = await as('ada', 'GET', '/packages/ada/generic/app')
    t.match(versions.json, [{ version: '2.0' }])
    t.equal((versions.json as unknown[]).length, 1)
    t.equal((await as('ada', 'GET', '/packages/ada/generic/App/1.0')).status, 404)

    const read = await send('GET', 'ada/generic/App/1.0/f')
    t.match(read, { status: 200, text: 'App/1.0' }, 'clients with an earlier list get the file')
    t.equal((await send('DELETE', 'ada/generic/App/1.0')).status, 204)
    t.equal((await send('GET', 'ada/generic/App/1.0/f')).status, 404, 'a removal by hand is final')
    t.equal((await send('DELETE', 'ada/generic/App/1.0')).status, 404)
    t.equal((await send('DELETE', 'ada/generic/App/2.0-rc1/f')).status, 204)
    t.equal((await send('GET', 'ada/generic/App/2.0-rc1/f')).status, 404)
    t.equal((await send('PUT', 'ada/generic/App/1.0/f', Buffer.from('again'))).status, 201)
    t.match(await send('GET', 'ada/generic/App/1.0/f'), { status: 200, text: 'again' })
    t.equal((await as('ada', 'DELETE', RULE)).status, 204)
    t.equal((await as('ada', 'DELETE', RULE)).status, 404)
    t.equal((await as('ada', 'GET', RULE)).status, 404)
  },
)

/** Waits for the end of the first run of a rule. Returns its result. */
async function waitForRun(read: () => Promise<{ readonly json: unknown }>): Promise<unknown> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const { last_run } = (await read()).json as { readonly last_run: unknown }
    if (last_run !== null) return last_run
    await sleep(50)
  }
  throw new Error('the rule did not run')
}

await onOneDatabase(
  t,
  'rules with other numbers or malformed patterns are refused',
  async (t, location) => {
    const { as } = await openGateway(t, location)
    const faults: ReadonlyArray<readonly [body: object, message: RegExp]> = [
      [
        { keep_count: 2 },
        /number of kept versions is 2; it must be one of 0, 1, 5, 10, 25, 50, 100/,
      ],
      [{ remove_days: -1 }, /number of days is -1/],
      [{ keep_pattern: '(a' }, /"\(a" is not a regular expression/],
      [{ remove_pattern: '(?=a)' }, /not a regular expression/],
      [{ remove_pattern: 'a'.repeat(256) }, /./],
      [{ enabled: 'yes' }, /must be boolean/],
    ]
    for (const [body, message] of faults) {
      const refused = { status: 422, json: { message } }
      t.match(await as('ada', 'PUT', RULE, body), refused, JSON.stringify(body).slice(0, 50))
    }
    t.equal((await as('ada', 'PUT', `${RULES}/dummy`, {})).status, 404)
    t.match((await as('ada', 'GET', RULES)).json, [])
  },
)

await onOneDatabase(t, 'only the owner of the packages edits rules', async (t, location) => {
  const { as, addOrganization, ada, bob, db } = await openGateway(t, location)
  t.equal((await as('bob', 'GET', RULES)).status, 403)
  t.equal((await as('anyone', 'GET', RULES)).status, 401)
  t.equal((await as('root', 'PUT', RULE, {})).status, 200)
  const acme = await addOrganization('acme', ada)
  await aTeam(db, { organizationId: acme.id, permission: 'write', memberIds: [bob.id] })
  const path = '/packages/acme/-/cleanup-rules/generic'
  const refused = { message: 'You may not change the settings of the packages of acme.' }
  t.match(await as('bob', 'PUT', path, {}), { status: 403, json: refused })
  t.equal((await as('ada', 'PUT', path, {})).status, 200)
})
