/** Signatures of ssh-keygen, of other bytes, and of security keys. */

import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseSshSignature, verifySshSignature } from '../../conf/ssh-signature.js'
import { blobOf, makeKeyPair, sshKeygen } from '../helpers/ssh-keys.js'
import { temporaryFolder } from '../helpers/temporary.js'

const folder = await temporaryFolder(t)
const payload = Buffer.from('tree 1\n\nA commit\n')

/** Signs the payload with ssh-keygen; returns the armored signature. */
async function signed(namespace: string): Promise<string> {
  const file = join(folder, `${namespace}-text`)
  await writeFile(file, payload)
  sshKeygen('-q', '-Y', 'sign', '-n', namespace, '-f', join(folder, 'ada'), file)
  return await readFile(`${file}.sig`, 'utf8')
}

const line = await makeKeyPair(folder, 'ada', '-t', 'ed25519')
const armored = await signed('git')

function armorOf(bytes: Buffer): string {
  return `-----BEGIN SSH SIGNATURE-----\n${bytes.toString('base64')}\n-----END SSH SIGNATURE-----\n`
}

/** Returns true if the text is a valid signature of the payload by the same key. */
async function isAccepted(text: string): Promise<boolean> {
  const signature = parseSshSignature(text)
  if (signature === undefined || signature.fingerprint !== fingerprint) return false
  return await verifySshSignature(signature, payload)
}

await writeFile(join(folder, 'line'), line)
const [, fingerprint = ''] = sshKeygen('-l', '-f', join(folder, 'line')).split(' ')

t.test('a signature of the namespace git is accepted for its payload only', async (t) => {
  t.equal(await isAccepted(armored), true)
  const signature = parseSshSignature(armored)
  t.ok(signature)
  if (signature) t.equal(await verifySshSignature(signature, Buffer.from('other')), false)
  t.equal(parseSshSignature(await signed('file')), undefined)
  t.equal(parseSshSignature('-----BEGIN SSH SIGNATURE-----\n'), undefined)
  t.equal(parseSshSignature(armored + 'x'.repeat(20_000)), undefined)
})

t.test('a signature with any changed, removed or added byte is refused', async (t) => {
  const [, body = ''] = armored.split(/-----.*-----\n/)
  const bytes = Buffer.from(body, 'base64')
  t.equal(await isAccepted(armorOf(bytes)), true)
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    if (await isAccepted(armorOf(changed))) t.fail(`byte ${at} may be changed`)
    if (await isAccepted(armorOf(bytes.subarray(0, at)))) t.fail(`it may end at byte ${at}`)
  }
  t.equal(await isAccepted(armorOf(Buffer.concat([bytes, Buffer.alloc(1)]))), false)
})

t.test('a signature by a security key needs the presence of its user', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const point = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const name = 'sk-ssh-ed25519@openssh.com'
  const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest()
  const fields = blobOf('git', '', 'sha256', sha256(payload))
  const text = Buffer.concat([Buffer.from('SSHSIG'), fields])
  const signedWith = (flags: number) => {
    const end = Buffer.from([flags, 0, 0, 0, 7])
    const challenge = Buffer.concat([sha256('ssh:'), end, sha256(text)])
    const signature = Buffer.concat([blobOf(name, sign(null, challenge, privateKey)), end])
    const all = blobOf(blobOf(name, point, 'ssh:'), 'git', '', 'sha256', signature)
    const head = Buffer.concat([Buffer.from('SSHSIG'), Buffer.from([0, 0, 0, 1])])
    return parseSshSignature(armorOf(Buffer.concat([head, all])))
  }
  const [present, absent] = [signedWith(1), signedWith(0)]
  t.equal(present && (await verifySshSignature(present, payload)), true)
  t.equal(absent && (await verifySshSignature(absent, payload)), false)
})
