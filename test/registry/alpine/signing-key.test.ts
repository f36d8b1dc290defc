/** The key of an owner has a name that stays, and that fits wherever apk puts it. */

import { createPrivateKey, createPublicKey } from 'node:crypto'
import t from 'tap'
import { keyFileName, makeSigningKey } from '../../../registry/alpine/signing-key.js'
import { rsaFingerprint } from '../../../registry/sign/rsa.js'

t.test('the name is of the owner and of the key, and fits into a header of tar', async (t) => {
  const owner = `A${'d'.repeat(38)}a`
  const key = await makeSigningKey(owner)
  const name = keyFileName(key)
  t.equal(name, `${owner.toLowerCase()}-${rsaFingerprint(key.publicKey).slice(0, 16)}.rsa.pub`)
  t.ok(`.SIGN.RSA256.${name}`.length <= 100, name)
  const made = createPublicKey(createPrivateKey(key.privateKey))
  t.equal(made.export({ type: 'spki', format: 'pem' }), key.publicKey)
})
