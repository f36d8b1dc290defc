/** RSA keys and signatures that openssl accepts. */

import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runToEnd } from '../../../cgi/process/run.js'
import { makeRsaKeys, rsaFingerprint, signWithSha1 } from '../../../registry/sign/rsa.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('openssl reads the keys and verifies the signature', async (t) => {
  const folder = await temporaryFolder(t)
  const openssl = async (...args: readonly string[]) => {
    const { output } = await runToEnd('openssl', args, {
      cwd: folder,
      environment: { PATH: process.env['PATH'] ?? '/usr/bin' },
      timeoutMs: 60_000,
      outputBytesMax: 65_536,
    })
    return output
  }
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  const { privateKey, publicKey } = await makeRsaKeys()
  clearInterval(timer)
  t.ok(turns > 10, `the event loop ran ${turns} times`)
  t.match(
    privateKey,
    /^-----BEGIN RSA PRIVATE KEY-----\n[\w+/=\n]+-----END RSA PRIVATE KEY-----\n$/,
  )
  t.match(publicKey, /^-----BEGIN PUBLIC KEY-----\n[\w+/=\n]+-----END PUBLIC KEY-----\n$/)
  await writeFile(join(folder, 'private'), privateKey)
  await writeFile(join(folder, 'public'), publicKey)

  const text = (await openssl('pkey', '-in', 'private', '-noout', '-text')).toString()
  t.match(text, /^RSA Private-Key: \(4096 bit, 2 primes\)|^Private-Key: \(4096 bit, 2 primes\)/)
  t.match(text, /publicExponent: 65537 /)
  t.equal((await openssl('pkey', '-in', 'private', '-pubout')).toString(), publicKey)
  const der = await openssl('pkey', '-pubin', '-in', 'public', '-outform', 'DER')
  t.equal(rsaFingerprint(publicKey), createHash('sha256').update(der).digest('hex'))

  await writeFile(join(folder, 'text'), 'signed in parts')
  const words = { privateKey: `a name\n${privateKey}` }
  const [signed, same] = await signWithSha1(inParts('signed in ', 'parts'), [{ privateKey }, words])
  const signature = signed?.signature ?? Buffer.alloc(0)
  t.ok(same?.signature.equals(signature), 'text before the key')
  t.equal(signature.length, 512, 'one block of a tar archive')
  await writeFile(join(folder, 'signature'), signature)
  const verify = ['-verify', 'public', '-signature', 'signature', 'text']
  t.equal((await openssl('dgst', '-sha1', ...verify)).toString(), 'Verified OK\n')
  t.equal((await openssl('dgst', '-sha256', ...verify)).toString(), 'Verification failure\n')
})

async function* inParts(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}
