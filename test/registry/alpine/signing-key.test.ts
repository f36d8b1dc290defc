/** Names of an owner's keys are stable and valid wherever apk uses them. */

import { createPrivateKey, createPublicKey } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import {
  keyFileName,
  makeSigningKey,
  signatureMember,
} from '../../../registry/alpine/signing-key.js'
import { rsaFingerprint } from '../../../registry/sign/rsa.js'
import { alpineKey } from '../../helpers/alpine-key.js'
import { readIndex } from '../../helpers/apks.js'
import { chunksOf } from '../../helpers/byte-chunks.js'
import { pmbBlocks } from '../../helpers/pmbootstrap.js'
import { tarOf } from '../../helpers/tar-bytes.js'

const OWNER = `A${'d'.repeat(38)}a`
const [fresh, old] = [await makeSigningKey(OWNER), await alpineKey()]

t.test('a key name contains owner and fingerprint and fits into a tar header', async (t) => {
  const name = keyFileName(fresh)
  t.equal(name, `${OWNER.toLowerCase()}-${rsaFingerprint(fresh.publicKey).slice(0, 16)}.rsa.pub`)
  t.ok(`.SIGN.RSA256.${name}`.length <= 100, name)
  const made = createPublicKey(createPrivateKey(fresh.privateKey))
  t.equal(made.export({ type: 'spki', format: 'pem' }), fresh.publicKey)
})

t.test('each of several keys signs the same member, in a separate segment', async (t) => {
  const body = 'C:Q1x=\nP:hello\nV:1.0-r0\nA:x86\nT:x\no:hello\nm:\nt:1\n\n'
  const member = gzipSync(tarOf([{ path: 'APKINDEX', body }]))
  const bytes = Buffer.concat([await signatureMember([fresh, old], chunksOf(member, 20)), member])
  const { signatureNames, isSignedBy } = await readIndex(t, bytes)
  const [freshName = '', oldName = ''] = [fresh, old].map((key) => `.SIGN.RSA.${keyFileName(key)}`)
  t.strictSame(signatureNames, [freshName, oldName])
  t.ok(await isSignedBy(fresh.publicKey, freshName), 'openssl verifies the signature')
  t.ok(await isSignedBy(old.publicKey, oldName))
  t.notOk(await isSignedBy(old.publicKey, freshName))
  t.notOk(await isSignedBy(fresh.publicKey, oldName))
  t.equal((await pmbBlocks(t, bytes)).length, 1, 'pmbootstrap skips both signatures')
})
