/** The file of an index is put together and signed as apk checks it. */

import t from 'tap'
import { packIndex } from '../../../registry/alpine/index-archive.js'
import { keyFileName, makeSigningKey } from '../../../registry/alpine/signing-key.js'
import { readIndex } from '../../helpers/apks.js'
import { pmbBlocks } from '../../helpers/pmbootstrap.js'

const key = await makeSigningKey('ada')

async function* recordsOf(count: number) {
  for (let at = 0; at < count; at += 1) yield `P:hello-${at}\nV:1.0-r0\nA:x86\nT:ä\n\n`
}

const pack = async (count: number) => Buffer.concat(await packIndex(recordsOf(count), key))

t.test('few records and many are all there, and the signature is of them', async (t) => {
  for (const count of [1, 2, 9_000]) {
    const bytes = await pack(count)
    const index = await readIndex(t, bytes)
    const records = index.text.split('\n\n')
    t.equal(records.length, count + 1)
    t.equal(records.at(-2), `P:hello-${count - 1}\nV:1.0-r0\nA:x86\nT:ä`)
    t.equal(index.signatureName, `.SIGN.RSA.${keyFileName(key)}`)
    t.ok(await index.isSignedBy(key.publicKey), 'openssl says so')
    t.equal((await pmbBlocks(t, bytes)).length, count, 'pmbootstrap reads as many')
  }
})

t.test('the same records are the same bytes, and another key signs otherwise', async (t) => {
  const bytes = await pack(100)
  t.ok(bytes.equals(await pack(100)))
  const other = await makeSigningKey('ada')
  t.notOk(await (await readIndex(t, bytes)).isSignedBy(other.publicKey))
})
