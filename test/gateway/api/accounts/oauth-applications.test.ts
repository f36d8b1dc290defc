/** OAuth applications over the API: owned, with a secret that is shown once. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { FORM } from '../../../helpers/oauth.js'

const PATH = '/user/applications/oauth2'
const WISH = { name: 'ci', redirect_uris: ['https://ci.example/cb'], confidential_client: true }

interface Application {
  readonly id: number
  readonly client_id: string
  readonly client_secret: string
}

await onOneDatabase(t, 'an application is changed by its owner only', async (t, location) => {
  const { as, ask } = await startGatewayWithUsers(t, { location })
  const made = await as('ada', 'POST', PATH, WISH)
  t.equal(made.status, 201)
  t.match(made.json, { ...WISH, skip_secondary_authorization: false, created: /^\d{4}-/ })
  const { id, client_id: clientId, client_secret: secret } = made.json as Application
  const shown = { ...(made.json as object), client_secret: '' }
  t.strictSame((await as('ada', 'GET', `${PATH}/${id}`)).json, shown)
  const listed = await as('ada', 'GET', PATH)
  t.strictSame(listed.json, [shown])
  t.equal(listed.headers['x-total-count'], '1')
  t.strictSame((await as('bob', 'GET', PATH)).json, [])
  const isSecret = async (text: string) => {
    const fields = { client_id: clientId, client_secret: text, token: 'x' }
    const path = '/login/oauth/introspect'
    const body = new URLSearchParams(fields).toString()
    return (await ask({ method: 'POST', path, body, headers: { 'content-type': FORM } })).status
  }
  t.equal(await isSecret(secret), 200)
  for (const path of [`${PATH}/${id}`, `${PATH}/x`, `${PATH}/1`]) {
    for (const [method, body] of [['GET'], ['PATCH', WISH], ['DELETE']] as const) {
      t.equal((await as('bob', method, path, body)).status, 404, `${method} ${path}`)
    }
  }
  const changed = await as('ada', 'PATCH', `${PATH}/${id}`, { ...WISH, name: 'other' })
  t.match(changed.json, { id, name: 'other', client_id: clientId })
  t.equal(await isSecret(secret), 401)
  t.equal(await isSecret((changed.json as Application).client_secret), 200)
  const open = await as('ada', 'PATCH', `${PATH}/${id}`, { ...WISH, confidential_client: false })
  t.match(open.json, { client_secret: '', confidential_client: false })
  t.equal(await isSecret(''), 401, 'a public client may not introspect tokens')
  t.equal((await as('ada', 'DELETE', `${PATH}/${id}`)).status, 204)
  t.equal((await as('ada', 'DELETE', `${PATH}/${id}`)).status, 404)
})

t.test('dangerous redirect addresses are refused', async (t) => {
  const { as } = await startGatewayWithUsers(t, {})
  for (const [status, change] of [
    [400, { redirect_uris: ['javascript:alert(1)'] }],
    [400, { redirect_uris: [] }],
    [400, { redirect_uris: ['https://a/#x'] }],
    [422, { name: '' }],
    [422, { name: 'a\nb' }],
    [422, { redirect_uris: 'https://a/' }],
  ] as const) {
    t.equal((await as('ada', 'POST', PATH, { ...WISH, ...change })).status, status)
  }
  t.equal((await as('anyone', 'POST', PATH, WISH)).status, 401)
})
