/** OpenPGP keys over the API, with keys and signatures of gpg. */

import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { openGpgHome } from '../../../helpers/gpg-home.js'

const gateway = await startGatewayWithUsers(t)
const { as } = gateway
const home = await openGpgHome(t)
const adaKey = home.makeKey('Ada <ada@example.com>')
const otherKey = home.makeKey('Other <other@example.org>', 'rsa2048')

const sign = (text: string, userId: string) =>
  home.gpg(['--armor', '--detach-sign', '--local-user', userId], text)

t.test('a key with an address of the user is added, listed and removed', async (t) => {
  const made = await as('ada', 'POST', '/user/gpg_keys', { armored_public_key: adaKey })
  t.equal(made.status, 201)
  const listing = home.gpg(['--list-keys', '--with-colons', 'ada@example.com'])
  t.match(made.json, {
    primary_key_id: '',
    key_id: /^pub:[^:]*:[^:]*:[^:]*:([^:]*)/m.exec(listing)?.[1],
    emails: [{ email: 'ada@example.com', verified: true }],
    can_sign: true,
    can_encrypt_comms: false,
    verified: false,
    expires_at: '0001-01-01T00:00:00Z',
    subkeys: [],
  })
  const { id } = made.json as { id: number }
  for (const [name, path] of [
    ['ada', '/user/gpg_keys'],
    ['bob', '/users/ada/gpg_keys'],
  ] as const) {
    const { json, headers } = await as(name, 'GET', path)
    t.match(json, [{ id }])
    t.equal(headers['x-total-count'], '1')
  }
  const again = { armored_public_key: adaKey }
  t.match(await as('ada', 'POST', '/user/gpg_keys', again), {
    status: 422,
    json: { message: 'A key with the same id already exists' },
  })
  t.equal((await as('ada', 'GET', `/user/gpg_keys/${id}`)).status, 200)
  t.equal((await as('bob', 'GET', `/user/gpg_keys/${id}`)).status, 404)
  t.equal((await as('bob', 'DELETE', `/user/gpg_keys/${id}`)).status, 404)
  t.equal((await as('ada', 'DELETE', `/user/gpg_keys/${id}`)).status, 204)
  t.match((await as('ada', 'GET', '/user/gpg_keys')).json, [])
})

t.test('a key with other addresses needs a signature of the token', async (t) => {
  const add = (signature?: string) =>
    as('ada', 'POST', '/user/gpg_keys', {
      armored_public_key: otherKey,
      armored_signature: signature,
    })
  const refused = await add()
  t.equal(refused.status, 404)
  const token = (await as('ada', 'GET', '/user/gpg_key_token')).text
  t.match((refused.json as { message: string }).message, 'None of the emails attached')
  t.equal((await add(sign('another text', 'other@example.org'))).status, 422)
  t.equal((await add(sign(token, 'ada@example.com'))).status, 422, 'a signature by another key')
  const bobs = (await as('bob', 'GET', '/user/gpg_key_token')).text
  t.equal((await add(sign(bobs, 'other@example.org'))).status, 422, "another user's token")
  const added = await add(sign(`${token}\n`, 'other@example.org'))
  t.match(added, { status: 201, json: { verified: true, emails: [] } })
})

t.test('a key is proved later by a signature of the token', async (t) => {
  const { json } = await as('ada', 'POST', '/user/gpg_keys', { armored_public_key: adaKey })
  const { key_id, id } = json as { key_id: string; id: number }
  const token = (await as('ada', 'GET', '/user/gpg_key_token')).text
  const prove = (armored_signature: string, name: 'ada' | 'bob' = 'ada') =>
    as(name, 'POST', '/user/gpg_key_verify', { key_id, armored_signature })
  t.equal((await prove('no signature')).status, 422)
  t.equal((await prove(sign(token, 'ada@example.com'), 'bob')).status, 404)
  t.match(await prove(sign(token, 'ada@example.com')), { status: 201, json: { verified: true } })
  t.match((await as('ada', 'GET', `/user/gpg_keys/${id}`)).json, { verified: true })
})

t.test('texts that are no usable public key are refused with the reason', async (t) => {
  const secret = home.gpg(['--armor', '--export-secret-keys', 'other@example.org'])
  const both = adaKey + otherKey
  const cut = adaKey.replace(/\n[^\n]{64}\n/, '\n')
  for (const [text, reason] of [
    [secret, 'this is a private key'],
    [both, 'exactly one key'],
    [cut, 'not an armored OpenPGP public key'],
    ['ssh-ed25519 AAAA', 'not an armored OpenPGP public key'],
    ['x'.repeat(70_000), 'more than 65536 characters'],
  ] as const) {
    const refused = await as('bob', 'POST', '/user/gpg_keys', { armored_public_key: text })
    t.equal(refused.status, 422, reason)
    t.match((refused.json as { message: string }).message, reason)
  }
})
