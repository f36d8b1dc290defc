/** Object names are derived from valid blob keys only. */

import t from 'tap'
import { keyOfObject, objectNameOf } from '../../../registry/storage/object-name.js'

const KEY = `${'0123456789abcdef'.repeat(4)}-${'fedcba9876543210'}`

t.test('a name is derived from its key and the key from its name', async (t) => {
  t.equal(objectNameOf(KEY), `01/23/${KEY}`)
  t.equal(keyOfObject(`01/23/${KEY}`), KEY)
})

t.test('a text that is not a blob key is refused', async (t) => {
  const others = ['', '..', `../${KEY}`, KEY.toUpperCase(), `${KEY}0`, KEY.slice(1), `${KEY}\n`]
  for (const key of [...others, KEY.replace('-', '/')]) {
    t.throws(() => objectNameOf(key), { message: /invalid blob key/ }, JSON.stringify(key))
  }
})

t.test('an object in another folder is not a blob', async (t) => {
  for (const name of ['', KEY, `01/24/${KEY}`, `a/01/23/${KEY}`, `01/23/${KEY}.part`, '01/23/']) {
    t.equal(keyOfObject(name), undefined, name)
  }
})
