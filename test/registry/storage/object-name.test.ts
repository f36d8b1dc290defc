/** A key has one name, spread over folders, and nothing else has any. */

import t from 'tap'
import { keyOfObject, objectNameOf } from '../../../registry/storage/object-name.js'

const KEY = `${'0123456789abcdef'.repeat(4)}-${'fedcba9876543210'}`

t.test('a name is told from its key, and the key from its name', async (t) => {
  t.equal(objectNameOf(KEY), `01/23/${KEY}`)
  t.equal(keyOfObject(`01/23/${KEY}`), KEY)
})

t.test('what is no key names nothing', async (t) => {
  const others = ['', '..', `../${KEY}`, KEY.toUpperCase(), `${KEY}0`, KEY.slice(1), `${KEY}\n`]
  for (const key of [...others, KEY.replace('-', '/')]) {
    t.throws(() => objectNameOf(key), { message: /not its key/ }, JSON.stringify(key))
  }
})

t.test('what stands in another place is no blob', async (t) => {
  for (const name of ['', KEY, `01/24/${KEY}`, `a/01/23/${KEY}`, `01/23/${KEY}.part`, '01/23/']) {
    t.equal(keyOfObject(name), undefined, name)
  }
})
