/** SSH keys of users over the API: the user's own, and the view of others. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { touchKey } from '../../../../sql/accounts/keys.js'
import { deleteUser } from '../../../../sql/accounts/users.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { isExpected } from '../../../helpers/expected.js'
import {
  type Name,
  refusal,
  startGatewayWithUsers,
  visible,
} from '../../../helpers/gateway-with-users.js'
import { aKeyLine, lineOf } from '../../../helpers/ssh-keys.js'

/** A key as ssh-keygen wrote it; its fingerprint is in the expected files. */
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHEYJBn7ys3OvpQlW3Qrqv5RCMQ7ISG9WeOZKB1J3LFa ada@laptop'

const NOT_FOUND = refusal('not found')

interface Key {
  readonly id: number
  readonly key: string
  readonly title: string
  readonly fingerprint: string
}

/** Starts a gateway with functions that add keys and return the fields of the response. */
async function openGateway(t: Test, location: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, { location })
  const add = async (name: Name, title: string, key = aKeyLine()) =>
    (await gateway.as(name, 'POST', '/user/keys', { title, key })).json as Key
  const titles = async (name: Name, path: string) => {
    const { json, headers } = await gateway.as(name, 'GET', path)
    return [(json as Key[]).map(({ title }) => title).join(), headers['x-total-count']]
  }
  return { ...gateway, add, titles }
}

await onOneDatabase(t, 'a key is added, listed, read and deleted', async (t, location) => {
  const { as, db } = await openGateway(t, location)
  const added = await as('ada', 'POST', '/user/keys', { title: 'laptop', key: `${KEY}\n` })
  t.equal(added.status, 201)
  isExpected(t, added.json, 'api/public-key-created')
  const { id } = added.json as Key
  t.strictSame((await as('ada', 'GET', `/user/keys/${id}`)).json, added.json)
  for (const path of ['/user/keys', '/users/ADA/keys']) {
    t.match(await as('ada', 'GET', path), { status: 200, headers: { 'x-total-count': '1' } })
    t.strictSame((await as('ada', 'GET', path)).json, [added.json], path)
  }
  await touchKey(db, id, 1_700_000_000_000)
  const used = { last_used_at: '2023-11-14T22:13:20Z' }
  t.match((await as('ada', 'GET', `/user/keys/${id}`)).json, used)
  t.match(await as('ada', 'DELETE', `/user/keys/${id}`), { status: 204, text: '' })
  t.strictSame((await as('ada', 'GET', '/user/keys')).json, [])
  for (const path of [id, 0, -1, 'x', '1e3', '%00', '9'.repeat(20), `${id}%20`]) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await as('ada', method, `/user/keys/${path}`)
      t.match(answer, { status: 404, json: NOT_FOUND }, `${method} ${path}`)
    }
  }
})

await onOneDatabase(t, 'a key is accessible to its user only', async (t, location) => {
  const { as, add } = await openGateway(t, location)
  const { id } = await add('ada', 'laptop', KEY)
  for (const name of ['bob', 'root'] as const) {
    for (const method of ['GET', 'DELETE']) {
      t.match(await as(name, method, `/user/keys/${id}`), { status: 404, json: NOT_FOUND }, name)
    }
  }
  t.strictSame((await as('bob', 'GET', '/user/keys')).json, [])
  for (const [method, path] of [
    ['GET', '/user/keys'] as const,
    ['POST', '/user/keys'] as const,
    ['GET', '/users/ada/keys'] as const,
    ['DELETE', `/user/keys/${id}`] as const,
  ]) {
    t.equal((await as('anyone', method, path)).status, 401, `${method} ${path}`)
  }
  t.equal((await as('ada', 'GET', `/user/keys/${id}`)).status, 200)
})

await onOneDatabase(
  t,
  'other users see a key without fields about its owner',
  async (t, location) => {
    const { as, add, db, ada, addOrganization } = await openGateway(t, location)
    const { id } = await add('ada', 'laptop', KEY)
    await touchKey(db, id, 1_700_000_000_000)
    const seen = await as('bob', 'GET', '/users/ada/keys')
    isExpected(t, seen.json, 'api/public-key-of-other')
    const whole = (await as('ada', 'GET', '/users/ada/keys')).json
    t.strictSame(
      (await as('root', 'GET', '/users/ada/keys')).json,
      whole,
      'site administrators see all fields',
    )
    const missing = await as('bob', 'GET', '/users/absent/keys')
    t.match(missing, { status: 404, json: NOT_FOUND })
    await addOrganization('club', ada)
    t.strictSame(visible(await as('bob', 'GET', '/users/club/keys')), visible(missing))
    await db('owners').where({ id: ada.id }).update({ visibility: 'private' })
    t.strictSame(visible(await as('bob', 'GET', '/users/ada/keys')), visible(missing))
    t.strictSame(visible(await as('bob', 'GET', '/users/ada/keys?page=2')), visible(missing))
    t.equal((await as('ada', 'GET', '/users/ada/keys')).status, 200)
  },
)

await onOneDatabase(t, 'keys are listed by page and by fingerprint', async (t, location) => {
  const { as, add, titles } = await openGateway(t, location)
  for (const title of ['one', 'two']) await add('ada', title)
  // A fingerprint with a plus sign and a slash, which not every client encodes.
  const { fingerprint } = await add('ada', 'odd', lineOf('ssh-ed25519', Buffer.alloc(32, 7)))
  t.match(fingerprint, /^SHA256:.*\+/)
  t.match(fingerprint, /\//)
  for (const path of ['/user/keys', '/users/ada/keys']) {
    t.strictSame(await titles('ada', path), ['one,two,odd', '3'])
    t.strictSame(await titles('ada', `${path}?limit=2`), ['one,two', '3'])
    t.strictSame(await titles('ada', `${path}?limit=2&page=2`), ['odd', '3'])
    t.strictSame(await titles('ada', `${path}?page=9`), ['', '3'])
    t.strictSame(await titles('ada', `${path}?fingerprint=${fingerprint}`), ['odd', '1'])
    const encoded = encodeURIComponent(fingerprint)
    t.strictSame(await titles('ada', `${path}?fingerprint=${encoded}`), ['odd', '1'])
    t.strictSame(await titles('ada', `${path}?fingerprint=`), ['one,two,odd', '3'])
    t.strictSame(await titles('ada', `${path}?fingerprint=%25`), ['', '0'])
  }
  const { headers } = await as('ada', 'GET', '/user/keys?limit=2')
  t.match(headers.link, '<http://code.example.com/api/v1/user/keys?limit=2&page=2>; rel="next"')
})

await onOneDatabase(
  t,
  'a key in use is refused, whatever its comment and title',
  async (t, location) => {
    const { as, add } = await openGateway(t, location)
    await add('ada', 'laptop', KEY)
    const [type, base64] = KEY.split(' ')
    const taken = refusal('Key content has been used as non-deploy key')
    for (const key of [KEY, `${type} ${base64}`, `  ${type}   ${base64}  bob's\r\n`]) {
      for (const name of ['ada', 'bob'] as const) {
        const body = { title: 'another', key }
        t.match(await as(name, 'POST', '/user/keys', body), { status: 422, json: taken })
      }
    }
    const body = { title: 'laptop', key: aKeyLine() }
    const titleTaken = { status: 422, json: refusal('Key title has been used') }
    t.match(await as('ada', 'POST', '/user/keys', body), titleTaken)
    t.equal((await as('bob', 'POST', '/user/keys', body)).status, 201)
  },
)

await onOneDatabase(t, 'an invalid key is refused and nothing is stored', async (t, location) => {
  const { as, db } = await openGateway(t, location)
  const key = aKeyLine()
  const invalid = /^Invalid key content: /
  const pad = (bytes: number) => `${key} ${'x'.repeat(bytes)}`
  const rfc4716 = `---- BEGIN SSH2 PUBLIC KEY ----\n${'Comment: "x"\n'.repeat(1_000)}`
  const bodies: ReadonlyArray<readonly [object, number, string | RegExp]> = [
    [{ title: 'x' }, 422, '[Key]: Required'],
    [{ key }, 422, '[Title]: Required'],
    [{ title: '', key }, 422, '[Title]: Required'],
    [{ title: 'x', key: '' }, 422, '[Key]: Required'],
    [{ title: 'x', key: 1 }, 422, /^\[Key\]: /],
    [{ title: 'x', key: [key] }, 422, /^\[Key\]: /],
    [{ title: null, key }, 422, /^\[Title\]: /],
    [{ title: 'x'.repeat(256), key }, 422, /^\[Title\]: /],
    ...[' ', '\u001b[2J', 'a\nb', '\0', '\ud800', '\u2028'].map(
      (title) => [{ title, key }, 422, /^A title is not blank/] as const,
    ),
    ...[`command="id" ${key}`, `cert-authority ${key}`, `restrict ${key}`].map(
      (text) => [{ title: 'x', key: text }, 422, /without options/] as const,
    ),
    ...[`${key}\n${aKeyLine()}`, `${key}\r\ncommand="id"`, key.replace(' ', '\n')].map(
      (text) => [{ title: 'x', key: text }, 422, /Give one key, on one line/] as const,
    ),
    ...['x', rfc4716, key.slice(0, 60), key.replace('ssh-', 'sk-ssh-'), `${key}\0`].map(
      (text) => [{ title: 'x', key: text }, 422, invalid] as const,
    ),
    ...[pad(16_384), pad(900_000), 'Comment: "x"\n'.repeat(50_000), '=\n'.repeat(300_000)].map(
      (text) => [{ title: 'x', key: text }, 422, /has more than 16384 bytes/] as const,
    ),
    [{ title: 'x', key: pad(5_000_000) }, 413, /./],
  ]
  for (const [body, status, message] of bodies) {
    const answer = await as('ada', 'POST', '/user/keys', body)
    const sent = JSON.stringify(body)
      .slice(0, 80)
      .replace(/[^ -~]/g, '?')
    t.match(answer, { status, json: { message } }, sent)
    t.notMatch(answer.text, key.slice(20, 60), 'the key is not repeated in the message')
  }
  t.strictSame(await db('ssh_keys'), [])
  const odd = { title: 'é 中 \u{1f511}', key, read_only: true, user_id: 1, __proto__: { id: 9 } }
  const added = await as('ada', 'POST', '/user/keys', odd)
  t.match(added, { status: 201, json: { title: odd.title, user: { login: 'ada' } } })
  t.notMatch(added.json, { read_only: true })
})

await onOneDatabase(t, 'keys of a deleted user do not exist', async (t, location) => {
  const { as, add, db, ada } = await openGateway(t, location)
  await add('ada', 'laptop', KEY)
  await deleteUser(db, ada.id)
  t.equal((await as('bob', 'GET', '/users/ada/keys')).status, 404)
  t.match(await add('bob', 'inherited', KEY), { title: 'inherited' })
})
