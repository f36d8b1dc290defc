/**
 * Public keys as users paste them: each type is read as ssh-keygen reads it, and others are
 * refused.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, constantFrom, property, string, tuple } from 'fast-check'
import t from 'tap'
import { isFailure } from '../../conf/failures.js'
import { formatSshKey, parseSshKey } from '../../conf/ssh-key.js'
import { aKeyLine, lineOf, makeKeyPair, sshKeygen } from '../helpers/ssh-keys.js'

/** Returns the error message of the text, or `taken` if it is accepted. */
function refusalOf(text: string): string {
  try {
    parseSshKey(text)
    return 'taken'
  } catch (error) {
    if (isFailure(error, 'invalid')) return error.message
    throw error
  }
}

/** Options of ssh-keygen for each type; keys of authenticators are in ssh-key-blob.test.ts. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'ssh-ed25519': ['-t', 'ed25519'],
  'ecdsa-sha2-nistp256': ['-t', 'ecdsa', '-b', '256'],
  'ecdsa-sha2-nistp384': ['-t', 'ecdsa', '-b', '384'],
  'ecdsa-sha2-nistp521': ['-t', 'ecdsa', '-b', '521'],
  'ssh-rsa': ['-t', 'rsa', '-b', '3072'],
}

t.test('each type is read with the fingerprint that ssh-keygen prints', async (t) => {
  const folder = t.testdir()
  for (const [algorithm, args] of Object.entries(KINDS)) {
    const line = await makeKeyPair(folder, algorithm, ...args)
    const key = parseSshKey(line)
    const [, fingerprint] = sshKeygen('-l', '-f', join(folder, algorithm)).split(' ')
    t.strictSame([key.algorithm, key.fingerprint], [algorithm, fingerprint])
    t.equal(key.comment, `${algorithm}@example.test`)
    t.equal(formatSshKey(key), line.trim())
  }
})

t.test('the comment and surrounding white space do not change the key', async (t) => {
  const line = aKeyLine()
  const { fingerprint, base64 } = parseSshKey(line)
  const same = [`${line} ada`, `  ${line}   ada  `, `${line}\n`, `${line} ada\r\n`, `${line} é 中`]
  for (const text of same) t.match(parseSshKey(text), { fingerprint, base64 }, text)
  t.equal(parseSshKey(`${line}   ada  of  home `).comment, 'ada of home')
  t.equal(formatSshKey(parseSshKey(`${line}\n`)), line)
})

t.test('a text that is not a public key is refused with advice', async (t) => {
  const folder = t.testdir()
  await makeKeyPair(folder, 'user', '-t', 'ed25519')
  await makeKeyPair(folder, 'authority', '-t', 'ed25519')
  sshKeygen('-q', '-s', join(folder, 'authority'), '-I', 'id', join(folder, 'user.pub'))
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const convert = (format: string) => sshKeygen('-e', '-m', format, '-f', join(folder, 'rsa'))
  await makeKeyPair(folder, 'rsa', '-t', 'rsa', '-b', '2048')
  t.match(refusalOf(read('user')), /private key\. Keep it to yourself/)
  t.match(refusalOf('PuTTY-User-Key-File-3: ssh-ed25519\n'), /private key\. Keep it to yourself/)
  t.match(refusalOf(read('user-cert.pub')), /this is a certificate/)
  t.match(refusalOf(convert('RFC4716')), /RFC 4716\. Convert it with: ssh-keygen -i -f FILE/)
  t.match(refusalOf(convert('PKCS8')), /PEM file\. Convert it with: ssh-keygen -i -m PKCS8/)
  t.match(refusalOf(convert('PEM')), /PEM file\. Convert it with: ssh-keygen -i -m PKCS8/)
  t.match(refusalOf(lineOf('ssh-dss', 'p', 'q', 'g', 'y')), /DSA keys are too weak/)
  for (const empty of ['', '\n', ' ', ' \n']) t.match(refusalOf(empty), /it is empty/)
  for (const odd of ['hello', 'SSH-ED25519 AAAA', '1024 37 12345', '\ufeffssh-ed25519 AAAA']) {
    t.match(refusalOf(odd), /not a supported key type/)
  }
  t.equal(refusalOf(read('user.pub')), 'taken')
})

t.test('options before the key are refused, whatever they are', async (t) => {
  const line = aKeyLine('ada')
  const options = [
    'command="id"',
    'command="echo a b",no-pty',
    'cert-authority',
    'restrict',
    'x',
    'environment="LD_PRELOAD=/tmp/x"',
    'from="*",permitopen="a:1"',
    '#',
    '@cert-authority *',
  ]
  for (const option of options) {
    t.match(refusalOf(`${option} ${line}`), /Give the key alone, without options/, option)
  }
})

t.test('a text with several keys is refused', async (t) => {
  const [one, other] = [aKeyLine('ada'), aKeyLine('bob')]
  const texts = [`${one}\n${other}`, `${one}\n${other}\n`, `${one}\r\n${other}`, `${one} ${other}`]
  for (const text of [...texts, `${one}\n\n`, `\n${one}`, `${one}\n#`, `${one}\n \n`]) {
    t.match(refusalOf(text), /Give one key, on one line/)
  }
  t.match(refusalOf(`${one}\n${'Comment: x\n'.repeat(1_000)}`), /Give one key, on one line/)
  t.equal(refusalOf(`${one}'s ssh-rsa key`), 'taken', 'a comment may mention key types')
})

t.test('control characters are refused anywhere', async (t) => {
  const line = aKeyLine()
  const characters = ['\0', '\t', '\r', '\v', '\x1b', '\x7f', '\x9b', '\u2028', '\u2029', '\ud800']
  for (const character of characters) {
    const texts = [character + line, `${line} a${character}b`, `${line}${character}`]
    for (const text of [...texts, line.replace(' ', character)]) {
      t.match(refusalOf(text), /control characters/, `${character.charCodeAt(0)}`)
    }
  }
  t.match(refusalOf(`${line}\r\r\n`), /control characters/)
  t.match(refusalOf(`${line}\n\r`), /Give one key, on one line/)
})

t.test('only the canonical base64 text of a key is accepted', async (t) => {
  const line = lineOf('ssh-ed25519', Buffer.alloc(32, 0xff))
  const [type = '', base64 = ''] = line.split(' ')
  t.equal(refusalOf(line), 'taken')
  const others = [
    '',
    `${base64}=`,
    `${base64}AAAA`,
    base64.slice(0, -1),
    base64.slice(1),
    base64.replaceAll('/', '_'),
    `${base64.slice(0, 20)}!${base64.slice(20)}`,
    '====',
  ]
  for (const other of others) t.not(refusalOf(`${type} ${other}`), 'taken', other)
  // In the base64 text of 33 bytes, 2 bits of the last character are unused.
  const padded = lineOf('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 1), 'ssh:')
  t.equal(refusalOf(padded), 'taken')
  t.match(padded, /=$/)
  t.match(refusalOf(padded.replace(/=+$/, '')), /canonical base64/)
  t.match(refusalOf(padded.replace(/.(=+)$/, (_, end) => `/${end}`)), /canonical base64/)
})

t.test('a key of one type is not accepted as another type', async (t) => {
  const point = Buffer.alloc(32, 9)
  const plain = lineOf('ssh-ed25519', point)
  const authenticator = lineOf('sk-ssh-ed25519@openssh.com', point, 'ssh:')
  const others = [
    plain.replace('ssh-ed25519', 'sk-ssh-ed25519@openssh.com'),
    authenticator.replace('sk-ssh-ed25519@openssh.com', 'ssh-ed25519'),
    plain.replace('ed25519', 'rsa'),
    plain.replace(' ', '-cert-v01@openssh.com '),
  ]
  for (const other of others) t.not(refusalOf(other), 'taken', other)
  // What an authenticator signs contains its application, so no signature is valid for the other
  // key.
  t.not(parseSshKey(plain).fingerprint, parseSshKey(authenticator).fingerprint)
})

t.test('a text that is too large is refused before it is parsed', async (t) => {
  const line = aKeyLine()
  const fill = (bytes: number) => `${line} ${'x'.repeat(bytes - line.length - 1)}`
  t.equal(refusalOf(fill(16_384)), 'taken')
  const larger = [fill(16_385), `${line} ${'é'.repeat(8_180)}`, 'A'.repeat(5_000_000)]
  larger.push('ssh-ed25519 '.repeat(400_000), `${line}\n`.repeat(60_000), ' '.repeat(5_000_000))
  larger.push(`---- BEGIN SSH2 PUBLIC KEY ----\n${'Comment: a\n'.repeat(100_000)}`)
  larger.push('"'.repeat(16_385), '\\'.repeat(5_000_000), '\n'.repeat(5_000_000))
  for (const text of larger) t.match(refusalOf(text), /has more than 16384 bytes/)
})

t.test('every text is either accepted or refused as invalid', async (t) => {
  const words = constantFrom(
    'ssh-ed25519',
    'ssh-rsa',
    'AAAA',
    ' ',
    '\n',
    '\r\n',
    '=',
    '"',
    '\\',
    'command=',
    '\0',
    aKeyLine(),
    `${aKeyLine()}\n`,
    '-----BEGIN',
    'PRIVATE KEY-----',
    '\ud800',
    '__proto__',
  )
  const texts = tuple(words, words, string(), words, words)
  const readsAgain = property(texts, (parts) => {
    const text = parts.join('')
    if (refusalOf(text) !== 'taken') return true
    const key = parseSshKey(text)
    const again = parseSshKey(formatSshKey(key))
    return again.fingerprint === key.fingerprint && again.comment === key.comment
  })
  t.doesNotThrow(() => assert(readsAgain, { numRuns: 5_000 }))
})
