/** SSH keys as JSON: fields per viewer, and parsing of inputs. */

import t from 'tap'
import { readKey } from '../../../../gateway/actions/accounts/read-key.js'
import {
  fingerprintOf,
  idOf,
  publicKeyObject,
} from '../../../../gateway/objects/accounts/key-object.js'
import { openContext } from '../../../helpers/gateway.js'
import { aKey, aKeyLine } from '../../../helpers/ssh-keys.js'

t.test('other users see neither comment, last use nor owner', async (t) => {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const root = await fixture.addUser('root', { isAdmin: true })
  const key = aKey('ada@home.example')
  const kept = { id: 7, userId: ada.id, title: 'k', key, createdAtMs: 0, lastUsedAtMs: 1_000 }
  const seenBy = (viewer: typeof ada) => publicKeyObject(context, kept, { owner: ada, viewer })
  t.strictSame(seenBy(bob), {
    id: 7,
    title: 'k',
    url: 'http://code.example.com/api/v1/user/keys/7',
    key: `ssh-ed25519 ${key.base64}`,
    fingerprint: key.fingerprint,
    created_at: '1970-01-01T00:00:00Z',
    last_used_at: '1970-01-01T00:00:00Z',
  })
  for (const viewer of [ada, root]) {
    t.match(seenBy(viewer), {
      key: /ada@home\.example$/,
      last_used_at: '1970-01-01T00:00:01Z',
      key_type: 'user',
      user: { login: 'ada', email: 'ada@example.com' },
    })
  }
})

t.test('a key input is validated strictly', async (t) => {
  const line = aKeyLine('c')
  t.match(readKey({ title: 'k', key: line }), { title: 'k', key: { comment: 'c' } })
  t.throws(() => readKey({ title: '\t', key: line }), { message: /^A title/ })
  t.throws(() => readKey({ title: 'k'.repeat(256), key: line }), { message: /^The title has more/ })
  t.throws(() => readKey({ title: 'k', key: 'x' }), { message: /^Invalid key content/ })
  t.equal(fingerprintOf({}), undefined)
  t.equal(fingerprintOf({ fingerprint: '' }), undefined)
  t.equal(fingerprintOf({ fingerprint: 'SHA256:a b+c' }), 'SHA256:a+b+c')
  t.equal(idOf({ id: '12' }), 12)
  for (const id of ['', 'x', '-1', '1.5', '0x1', '1e3', ' 1', '9'.repeat(16)]) {
    t.throws(() => idOf({ id }), { message: 'not found' }, id)
  }
  t.throws(() => idOf({}))
})
