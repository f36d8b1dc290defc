/** Signatures that GnuPG accepts and that are reproducible. */

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  armorKeys,
  dearmorKeys,
  makeOpenpgpKey,
  openSigner,
} from '../../../registry/sign/openpgp.js'

const makeKey = (name: string) => makeOpenpgpKey(name, 'ed25519')
const KEY = await makeKey('ada (Debian Registry)')
const RSA_KEY = await makeOpenpgpKey('ada (Debian Registry)', 'rsa4096')

const TEXT = [
  'Origin: Gatehouse',
  '- a line with a dash',
  '-----BEGIN PGP SIGNATURE-----',
  'From the beginning',
  'Ünïcode: 中',
  '',
  ' 00 1 main/x',
  '',
].join('\n')

/** Creates a folder with the key, and functions that run gpgv in it. */
async function aKeyring(t: Test, ...keys: ReadonlyArray<typeof KEY>) {
  const folder = t.testdir({})
  const armored = (keys.length > 0 ? keys : [KEY]).map(({ publicKey }) => publicKey)
  writeFileSync(join(folder, 'key.gpg'), await dearmorKeys(armored))
  return {
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    read: (name: string) => readFileSync(join(folder, name)),
    gpgv(...args: readonly string[]) {
      const all = ['--status-fd', '1', '--keyring', join(folder, 'key.gpg'), ...args]
      const { status, stdout } = spawnSync('gpgv', all, { cwd: folder, encoding: 'utf8' })
      return { isGood: status === 0, said: stdout }
    },
  }
}

// Key, its algorithm in OpenPGP and its length: EdDSA and RSA.
const TYPES = { ed25519: [KEY, '22', '255'], rsa4096: [RSA_KEY, '1', '4096'] } as const

for (const [type, [key, algorithm, bits]] of Object.entries(TYPES)) {
  t.test(`detached and cleartext signatures are valid for exactly the text: ${type}`, async (t) => {
    const keyring = await aKeyring(t, key)
    const signer = await openSigner([key], { atMs: Date.now() })
    keyring.write('Release', TEXT)
    keyring.write('InRelease', await signer.clearSign(TEXT))
    keyring.write('Release.gpg', await signer.signDetached(TEXT))
    const clear = keyring.gpgv('--output', 'read', 'InRelease')
    t.ok(clear.isGood, clear.said)
    t.equal(keyring.read('read').toString(), TEXT, 'the signed text is the text')
    const detached = keyring.gpgv('Release.gpg', 'Release')
    t.ok(detached.isGood, detached.said)
    t.match(detached.said, /GOODSIG [0-9A-F]{16} ada \(Debian Registry\)/)
    for (const { said } of [clear, detached]) {
      // The line VALIDSIG: fingerprint, date, time, expiry, version, reserved, algorithm, hash,
      // class.
      const [, used, hash] = /VALIDSIG \S+ \S+ \S+ 0 4 0 (\d+) (\d+) /.exec(said) ?? []
      t.equal(used, algorithm)
      t.equal(hash, '10', 'SHA-512')
    }
    keyring.write('Release', TEXT.replace('main', 'evil'))
    t.notOk(keyring.gpgv('Release.gpg', 'Release').isGood, 'it is not valid for another text')
    keyring.write('InRelease', (await signer.clearSign(TEXT)).replace('main', 'evil'))
    t.notOk(keyring.gpgv('InRelease').isGood)
  })

  t.test(`a key signs, does not expire, and is exported without its secret: ${type}`, async (t) => {
    const home = t.testdir({ 'key.asc': key.publicKey })
    const gpg = ['--homedir', home, '--batch', '--with-colons', '--show-keys']
    const shown = execFileSync('gpg', [...gpg, join(home, 'key.asc')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const lines = shown.split('\n').map((line) => line.split(':'))
    const [fields = []] = lines.filter(([kind]) => kind === 'pub')
    t.equal(fields[2], bits, 'length')
    t.equal(fields[6], '', 'no expiry')
    t.match(fields[11], /^[sc]+SC$/, 'signs and certifies')
    t.strictSame(
      lines.map(([kind]) => kind).filter((kind) => kind === 'sub' || kind === 'sec'),
      [],
    )
    t.match(shown, 'ada (Debian Registry)')
    t.match(key.privateKey, /^-----BEGIN PGP PRIVATE KEY BLOCK-----/)
    t.match(key.publicKey, /^-----BEGIN PGP PUBLIC KEY BLOCK-----/)
  })
}

t.test('the event loop continues while an RSA key is generated', async (t) => {
  let ticks = 0
  const counting = setInterval(() => (ticks += 1), 1)
  const key = await makeOpenpgpKey('ada', 'rsa4096')
  clearInterval(counting)
  t.not(key.publicKey, RSA_KEY.publicKey)
  t.ok(ticks > 5, `${ticks} ticks`)
})

t.test('a text without a final line break is signed unchanged', async (t) => {
  const keyring = await aKeyring(t)
  const signer = await openSigner([KEY], { atMs: Date.now() })
  keyring.write('text', 'no end')
  keyring.write('text.asc', await signer.signDetached('no end'))
  t.ok(keyring.gpgv('text.asc', 'text').isGood)
})

t.test('a signature is determined by text, time and key, and has that time', async (t) => {
  const keyring = await aKeyring(t, KEY, RSA_KEY)
  const atMs = Date.now() + 3_600_000
  const sign = async (time: number) => {
    const signer = await openSigner([KEY, RSA_KEY], { atMs: time })
    return [await signer.clearSign(TEXT), await signer.signDetached(TEXT)]
  }
  const signed = await sign(atMs)
  t.strictSame(await sign(atMs), signed)
  t.notSame(await sign(atMs + 1_000), signed)
  keyring.write('Release', TEXT)
  keyring.write('Release.gpg', signed[1] ?? '')
  t.match(keyring.gpgv('Release.gpg', 'Release').said, ` ${Math.floor(atMs / 1_000)} 0 4 `)
})

t.test('a text older than its key is signed with the time of the key', async (t) => {
  const keyring = await aKeyring(t)
  const signer = await openSigner([KEY], { atMs: 0 })
  keyring.write('Release', TEXT)
  keyring.write('Release.gpg', await signer.signDetached(TEXT))
  t.ok(keyring.gpgv('Release.gpg', 'Release').isGood)
})

t.test('during an overlap all keys sign, and each key alone verifies', async (t) => {
  const [old, fresh, other] = [KEY, RSA_KEY, await makeKey('eve')]
  const signer = await openSigner([fresh, old], { atMs: Date.now() })
  const signed = { InRelease: await signer.clearSign(TEXT), gpg: await signer.signDetached(TEXT) }
  const look = async (...keys: ReadonlyArray<typeof KEY>) => {
    const keyring = await aKeyring(t, ...keys)
    keyring.write('Release', TEXT)
    keyring.write('InRelease', signed.InRelease)
    keyring.write('Release.gpg', signed.gpg)
    return [keyring.gpgv('--output', 'read', 'InRelease'), keyring.gpgv('Release.gpg', 'Release')]
  }
  const goodOnes = (said: string) => said.match(/^\[GNUPG:\] GOODSIG/gm)?.length ?? 0
  for (const { said, isGood } of await look(fresh, old)) {
    t.equal(goodOnes(said), 2, said)
    t.ok(isGood)
  }
  for (const key of [fresh, old]) {
    // Gpgv requires all keys; one valid signature is enough for apt.
    for (const { said } of await look(key)) {
      t.equal(goodOnes(said), 1, said)
      t.match(said, /NO_PUBKEY/)
      t.notMatch(said, /BADSIG/)
    }
  }
  for (const { said } of await look(other)) t.equal(goodOnes(said), 0)
})

t.test('a signature is never older than the newest key', async (t) => {
  const madeMs = Date.now() - 86_400_000
  const { generateKey } = await import('openpgp')
  const old = await generateKey({
    type: 'ecc',
    curve: 'ed25519Legacy',
    userIDs: [{ name: 'ada' }],
    subkeys: [],
    format: 'armored',
    date: new Date(madeMs),
  })
  const signer = await openSigner([KEY, old], { atMs: madeMs + 1_000 })
  const keyring = await aKeyring(t, KEY, old)
  keyring.write('Release', TEXT)
  keyring.write('Release.gpg', await signer.signDetached(TEXT))
  const { said, isGood } = keyring.gpgv('Release.gpg', 'Release')
  t.ok(isGood, said)
  const times = [...said.matchAll(/VALIDSIG \S+ \S+ (\d+) /g)].map(([, time]) => Number(time))
  t.equal(times.length, 2)
  for (const time of times)
    t.ok(time * 1_000 > madeMs + 3_600_000, 'the time when the newest key was made')
})

t.test('several keys are exported in one armored block', async (t) => {
  const keys = [KEY, await makeKey('ada'), await makeKey('ada')]
  for (const count of [1, 2, 3]) {
    const armored = await armorKeys(keys.slice(0, count).map(({ publicKey }) => publicKey))
    t.equal(armored.match(/BEGIN PGP PUBLIC KEY BLOCK/g)?.length, 1)
    const home = t.testdir({ 'keys.asc': armored })
    const show = ['--homedir', home, '--batch', '--with-colons', '--show-keys']
    const shown = execFileSync('gpg', [...show, join(home, 'keys.asc')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.equal(shown.match(/^pub:/gm)?.length, count)
  }
  t.equal(await armorKeys([KEY.publicKey]), KEY.publicKey, 'one key is exported unchanged')
})
