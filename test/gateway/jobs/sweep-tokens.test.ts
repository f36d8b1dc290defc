/** Expired tokens are deleted after some time. */

import t from 'tap'
import { SWEEP_TOKENS } from '../../../gateway/jobs/sweep-tokens.js'
import { openContext } from '../../helpers/gateway.js'

const DAY_MS = 86_400_000

t.test('a token is deleted a month after its expiry', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const forEver = await fixture.addToken(ada, 'all')
  const ended = async (days: number) =>
    await fixture.addLimitedToken(ada, { expiresAtMs: Date.now() - days * DAY_MS }, 'all')
  const [old, recent] = [await ended(31), await ended(29)]
  await SWEEP_TOKENS.run(context, 'all', new AbortController().signal)
  const left = await fixture.db('tokens').orderBy('id').pluck('id')
  t.strictSame(left, [forEver.token.id, recent.token.id])
  t.notOk(left.includes(old.token.id))
})
