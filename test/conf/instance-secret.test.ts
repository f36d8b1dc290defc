/** The instance secret seals values, which can be unsealed only with it. */

import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { temporaryFolder } from '../helpers/temporary.js'

t.test('a sealed value is unsealed with the same context in any process', async (t) => {
  const folder = await temporaryFolder(t)
  const secrets = await Promise.all(Array.from({ length: 8 }, () => openInstanceSecret(folder)))
  const sealed = secrets.map((secret) => secret.seal('a private key', 'key of ada'))
  t.equal(new Set(sealed).size, sealed.length, 'each ciphertext is different')
  for (const secret of secrets) {
    for (const text of sealed) t.equal(secret.unseal(text, 'key of ada'), 'a private key')
  }
  t.notOk(sealed.some((text) => Buffer.from(text, 'base64').toString().includes('private')))
})

t.test('a value with another context, another secret or damaged is not unsealed', async (t) => {
  const [here, there] = [await temporaryFolder(t), await temporaryFolder(t)]
  const secret = await openInstanceSecret(here)
  const sealed = secret.seal('a private key', 'key of ada')
  t.throws(() => secret.unseal(sealed, 'key of bob'))
  const other = await openInstanceSecret(there)
  t.throws(() => other.unseal(sealed, 'key of ada'))
  const turned = sealed.at(-8) === 'A' ? 'B' : 'A'
  for (const text of ['', 'v1:', `v2:${sealed.slice(3)}`, sealed.slice(0, -12)]) {
    t.throws(() => secret.unseal(text, 'key of ada'), text)
  }
  const damaged = sealed.slice(0, -8) + turned + sealed.slice(-7)
  t.throws(() => secret.unseal(damaged, 'key of ada'), 'one changed character')
})

t.test('the secret is a file that only its owner can read', async (t) => {
  const folder = await temporaryFolder(t)
  await openInstanceSecret(folder)
  const path = join(folder, 'secret.key')
  t.equal((await stat(path)).mode & 0o777, 0o600)
  t.equal(Buffer.from(await readFile(path, 'utf8'), 'base64').length, 32)
  await writeFile(path, 'c2hvcnQ=\n')
  await t.rejects(openInstanceSecret(folder), { message: /does not hold a secret/ })
})

t.test('a signature depends on the text, the words and the secret', async (t) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const other = await openInstanceSecret(await temporaryFolder(t))
  const signature = secret.sign('text', 'words').toString('hex')
  t.equal(signature.length, 64)
  t.equal(secret.sign('text', 'words').toString('hex'), signature)
  for (const [signer, text, words] of [
    [secret, 'texts', 'words'],
    [secret, 'text', 'word'],
    [other, 'text', 'words'],
  ] as const) {
    t.not(signer.sign(text, words).toString('hex'), signature)
  }
})
