/** Key blobs: only the one canonical encoding of each key is accepted. */

import { createECDH, generateKeyPairSync, randomBytes } from 'node:crypto'
import t from 'tap'
import { checkSshKey, isSshKeyAlgorithm, type SshKeyAlgorithm } from '../../conf/ssh-key-blob.js'
import { blobOf } from '../helpers/ssh-keys.js'

type Fields = ReadonlyArray<string | Uint8Array>

/** Returns the error for a key of this type with these fields, or undefined. */
function why(type: SshKeyAlgorithm, ...fields: Fields): string | undefined {
  return checkSshKey(type, blobOf(type, ...fields))
}

const ED25519 = 'ssh-ed25519'
const SK_ED25519 = 'sk-ssh-ed25519@openssh.com'
const SK_ECDSA = 'sk-ecdsa-sha2-nistp256@openssh.com'

const CURVES = [
  ['nistp256', 'prime256v1'],
  ['nistp384', 'secp384r1'],
  ['nistp521', 'secp521r1'],
] as const

function pointOn(curve: string): Buffer {
  return createECDH(curve).generateKeys()
}

/** Encodes an mpint: positive, without redundant zeros. */
function numberOf(bytes: Uint8Array): Buffer {
  const [first = 0] = bytes
  return Buffer.concat([Buffer.alloc(first > 127 ? 1 : 0), bytes])
}

/** Returns an odd number of so many bits, as each modulus is. */
function oddNumber(bits: number): Buffer {
  const bytes = randomBytes(Math.ceil(bits / 8))
  const top = 1 << ((bits - 1) % 8)
  bytes[0] = ((bytes[0] ?? 0) & (top - 1)) | top
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1
  return numberOf(bytes)
}

const E = Buffer.from([1, 0, 1])

t.test(
  'only the names of supported algorithms are accepted, not properties of objects',
  async (t) => {
    for (const name of [ED25519, SK_ED25519, SK_ECDSA, 'ssh-rsa', 'ecdsa-sha2-nistp521']) {
      t.ok(isSshKeyAlgorithm(name), name)
    }
    for (const name of ['', 'ssh-dss', 'toString', '__proto__', 'SSH-RSA', `${ED25519} `]) {
      t.notOk(isSshKeyAlgorithm(name), name)
    }
  },
)

t.test('a key blob has the type of its line and no missing or extra bytes', async (t) => {
  const point = randomBytes(32)
  const whole = blobOf(ED25519, point)
  t.equal(checkSshKey(ED25519, whole), undefined)
  for (let bytes = 0; bytes < whole.length; bytes += 1) {
    t.type(checkSshKey(ED25519, whole.subarray(0, bytes)), 'string', `the first ${bytes} bytes`)
  }
  for (const more of [Buffer.alloc(1), Buffer.alloc(4), blobOf('x'), Buffer.alloc(12_000)]) {
    t.type(checkSshKey(ED25519, Buffer.concat([whole, more])), 'string')
  }
  t.match(checkSshKey(SK_ED25519, whole), /the key has another type/)
  t.match(checkSshKey(ED25519, blobOf(SK_ED25519, point, 'ssh:')), /the key has another type/)
  t.match(checkSshKey(ED25519, blobOf(`${ED25519}\0`, point)), /the key has another type/)
  t.match(checkSshKey(ED25519, blobOf('', point)), /the key has another type/)
  t.match(checkSshKey(ED25519, Buffer.from('ffffffff00', 'hex')), /ends too early/)
  t.match(checkSshKey(ED25519, Buffer.from('7fffffff00', 'hex')), /ends too early/)
})

t.test('a point of ed25519 has 32 bytes', async (t) => {
  for (const bytes of [0, 31, 33, 64]) t.match(why(ED25519, randomBytes(bytes)), /32 bytes/)
  t.match(why(ED25519), /too many or too few/)
  t.match(why(ED25519, randomBytes(32), ''), /too many or too few/)
})

t.test('a point of ecdsa is uncompressed and on the curve of its type', async (t) => {
  for (const [name, curve] of CURVES) {
    const type = `ecdsa-sha2-${name}` as const
    const point = pointOn(curve)
    t.equal(why(type, name, point), undefined, name)
    const compressed = createECDH(curve)
    compressed.generateKeys()
    const elsewhere = Buffer.from(point)
    elsewhere[elsewhere.length - 1] = (elsewhere.at(-1) ?? 0) ^ 1
    const hybrid = Buffer.from(point)
    hybrid[0] = 6
    const half = (point.length - 1) / 2
    const [before, after] = [point.subarray(0, 1 + half), point.subarray(1 + half)]
    const wrong = [
      Buffer.concat([before, Buffer.alloc(1), after]),
      Buffer.alloc(0),
      Buffer.alloc(1),
      Buffer.from([4]),
      elsewhere,
      hybrid,
      compressed.getPublicKey(null, 'compressed'),
      point.subarray(0, -1),
      Buffer.concat([point, Buffer.alloc(1)]),
      Buffer.alloc(point.length, 0xff),
      Buffer.concat([Buffer.from([4]), Buffer.alloc(point.length - 1)]),
    ]
    for (const bytes of wrong) t.match(why(type, name, bytes), /its point is not on its curve/)
    for (const [other] of CURVES.filter(([other]) => other !== name)) {
      t.match(why(type, other, point), /curve does not match its type/)
    }
    t.match(why(type, `${name}\0`, point), /curve does not match its type/)
    t.match(why(type, point), /too many or too few/)
    t.match(why(type, name, point, ''), /too many or too few/)
  }
})

t.test('the size of a modulus is counted without leading zeros', async (t) => {
  const real = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey
  const modulus = Buffer.from(real.export({ format: 'jwk' }).n ?? '', 'base64url')
  t.equal(why('ssh-rsa', E, numberOf(modulus)), undefined)
  for (const bits of [2_048, 2_049, 3_072, 4_096, 16_384]) {
    t.equal(why('ssh-rsa', E, oddNumber(bits)), undefined, `${bits}`)
  }
  for (const bits of [8, 512, 1_024, 2_040, 2_047, 16_385]) {
    const sentence = `2048 to 16384 bits, preferably at least 3072; this one has ${bits}.`
    t.match(why('ssh-rsa', E, oddNumber(bits)), sentence)
  }
  const padded = Buffer.concat([Buffer.alloc(200), oddNumber(1_024)])
  t.match(why('ssh-rsa', E, padded), /shortest form/, 'a small modulus with leading zeros')
})

t.test('a second encoding of the same number is refused', async (t) => {
  const modulus = oddNumber(2_048)
  const zero = Buffer.alloc(1)
  const others: readonly Fields[] = [
    [E, Buffer.concat([zero, modulus])],
    [Buffer.concat([zero, E]), modulus],
    [E, modulus.subarray(1)],
    [E, ''],
    ['', modulus],
    [E, zero],
    [zero, modulus],
    [Buffer.from([0xff]), modulus],
  ]
  for (const fields of others) t.match(why('ssh-rsa', ...fields), /shortest form/)
  t.match(why('ssh-rsa', modulus, E), /this one has 17/, 'exponent and modulus swapped')
  t.match(why('ssh-rsa', E, modulus, ''), /too many or too few/)
  t.match(why('ssh-rsa', modulus), /too many or too few/)
})

t.test('an RSA key that is unusable or insecure is refused', async (t) => {
  const modulus = oddNumber(2_048)
  const even = Buffer.from(modulus)
  even[even.length - 1] = (even.at(-1) ?? 0) & 0xfe
  for (const exponent of [1, 2, 4, 100]) {
    t.match(why('ssh-rsa', Buffer.from([exponent]), modulus), /not those of an RSA key/)
  }
  t.match(why('ssh-rsa', E, even), /not those of an RSA key/)
  t.match(why('ssh-rsa', modulus, modulus), /not those of an RSA key/)
  t.equal(why('ssh-rsa', Buffer.from([3]), modulus), undefined)
})

/** The keys are put together as PROTOCOL.u2f says, because no authenticator is available. */
t.test('a security key states its application', async (t) => {
  const point = randomBytes(32)
  const [, [, curve]] = [0, CURVES[0]]
  const onCurve = pointOn(curve)
  for (const application of ['ssh:', 'ssh:work', 'code.example.com']) {
    t.equal(why(SK_ED25519, point, application), undefined, application)
    t.equal(why(SK_ECDSA, 'nistp256', onCurve, application), undefined, application)
  }
  for (const application of ['', 'a b', 'ssh:\n', 'ssh:\0', 'é', 'x'.repeat(256)]) {
    t.match(why(SK_ED25519, point, application), /its application is empty/)
    t.match(why(SK_ECDSA, 'nistp256', onCurve, application), /its application is empty/)
  }
  t.match(why(SK_ED25519, point), /too many or too few/)
  t.match(why(SK_ED25519, point, 'ssh:', ''), /too many or too few/)
  t.match(why(SK_ED25519, randomBytes(31), 'ssh:'), /32 bytes/)
  t.match(why(SK_ECDSA, 'nistp256', onCurve), /too many or too few/)
  t.match(why(SK_ECDSA, 'nistp384', onCurve, 'ssh:'), /curve does not match its type/)
  t.match(why(SK_ECDSA, 'nistp256', randomBytes(65), 'ssh:'), /its point is not on its curve/)
})
