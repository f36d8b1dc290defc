/** Access tokens: format, randomness, and the stored hash. */

import t from 'tap'
import { hashToken, isTokenShaped, newToken } from '../../../gateway/auth/token.js'

t.test('each new token is unique and has the expected format', async (t) => {
  const tokens = new Set(Array.from({ length: 1_000 }, newToken))
  t.equal(tokens.size, 1_000)
  for (const token of tokens) if (!/^[0-9a-f]{40}$/.test(token)) t.fail(token)
})

t.test('only 40 lower-case hexadecimal digits are a token', async (t) => {
  t.equal(isTokenShaped('0123456789abcdef0123456789abcdef01234567'), true)
  for (const text of ['', 'a'.repeat(39), 'a'.repeat(41), 'A'.repeat(40), `${'a'.repeat(40)}\n`]) {
    t.equal(isTokenShaped(text), false, JSON.stringify(text))
  }
})

t.test('a token is stored as its SHA-256', async (t) => {
  const wanted = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  t.equal(hashToken('abc'), wanted)
})
