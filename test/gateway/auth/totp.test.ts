/** One-time codes of RFC 6238, valid in their time step and the adjacent ones. */

import t from 'tap'
import {
  codeOf,
  isCodeShaped,
  keyUri,
  matchingStep,
  newSecret,
  stepAt,
} from '../../../gateway/auth/totp.js'

/** `12345678901234567890`, the secret of appendix B of RFC 6238. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

t.test('the examples of RFC 6238 give their last six digits', async (t) => {
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const) {
    t.equal(codeOf(SECRET, stepAt(seconds * 1_000)), code.slice(2), String(seconds))
  }
})

t.test('a code is valid in its time step and in the previous and next one', async (t) => {
  const nowMs = 1_700_000_000_000
  const now = stepAt(nowMs)
  for (const beside of [-1, 0, 1]) {
    t.equal(matchingStep(SECRET, codeOf(SECRET, now + beside), nowMs), now + beside)
  }
  for (const far of [-2, 2]) {
    t.equal(matchingStep(SECRET, codeOf(SECRET, now + far), nowMs), undefined)
  }
  for (const text of ['', '12345', '1234567', '12345a', '１２３４５６', ' 12345']) {
    t.equal(isCodeShaped(text), false, text)
    t.equal(matchingStep(SECRET, text, nowMs), undefined, text)
  }
})

t.test('a secret is random, has 160 bits, and is given to the app as a link', async (t) => {
  const secrets = Array.from({ length: 50 }, newSecret)
  t.equal(new Set(secrets).size, secrets.length)
  for (const secret of secrets) t.match(secret, /^[A-Z2-7]{32}$/)
  t.equal(
    keyUri(SECRET, 'code.example.com:8080', 'ada'),
    `otpauth://totp/code.example.com%3A8080:ada?secret=${SECRET}&issuer=code.example.com%3A8080`,
  )
})
