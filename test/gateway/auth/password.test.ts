/** Passwords are stored as Argon2id, and a missing user takes as long as a wrong password. */

import { performance } from 'node:perf_hooks'
import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { checkPassword, hashPassword } from '../../../gateway/auth/password.js'
import { newToken } from '../../../gateway/auth/token.js'

t.test('only the correct password matches its hash', async (t) => {
  const kept = await hashPassword('correct horse ☃')
  t.match(kept, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.notMatch(kept, 'correct horse')
  t.not(kept, await hashPassword('correct horse ☃'), 'each hash has its own salt')
  t.equal(await checkPassword(kept, 'correct horse ☃'), true)
  for (const wrong of ['', 'correct horse', 'correct horse ☃ ', 'Correct horse ☃']) {
    t.equal(await checkPassword(kept, wrong), false, wrong)
  }
})

t.test('a password that is too short, too long or like a token is refused', async (t) => {
  for (const password of ['', 'seven c', 'x'.repeat(257), newToken()]) {
    const failure = await hashPassword(password).catch((error: unknown) => error)
    t.ok(isFailure(failure, 'invalid'), password.slice(0, 10))
    t.notMatch(failure, { message: password || 'nothing' }, 'and not repeated in the message')
  }
  await t.resolves(hashPassword('eight ch'))
  await t.resolves(hashPassword('x'.repeat(256)))
})

t.test('without a hash no password is correct, not even an empty one', async (t) => {
  t.equal(await checkPassword(undefined, ''), false)
  t.equal(await checkPassword(undefined, 'anything'), false)
})

t.test('a missing user costs one hash, like a wrong password', async (t) => {
  const kept = await hashPassword('correct horse')
  await checkPassword(undefined, 'the first makes the decoy')
  for (const [name, hash] of [['wrong', kept] as const, ['missing', undefined] as const]) {
    for (let n = 0; n < 3; n += 1) {
      const startedAt = performance.now()
      await checkPassword(hash, 'wrong')
      const durationMs = performance.now() - startedAt
      // No processor fills 19 MiB twice in less time; a busy one takes longer.
      t.ok(durationMs > 1, `${name}: ${durationMs} ms`)
    }
  }
})
