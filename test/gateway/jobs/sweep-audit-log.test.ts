/** Audit entries are deleted after the time of the setting. */

import t from 'tap'
import { SWEEP_AUDIT_LOG } from '../../../gateway/jobs/sweep-audit-log.js'
import { openContext } from '../../helpers/gateway.js'

const DAY_MS = 86_400_000

t.test('an audit entry is deleted after a year', async (t) => {
  const { context, fixture } = await openContext(t)
  const kept = { action: 'token.create', actor_name: 'ada', credential: 'token', subject: 'ada' }
  for (const days of [366, 364]) {
    const created_at = Date.now() - days * DAY_MS
    await fixture.db('audit_entries').insert({ ...kept, created_at, details: `${days}` })
  }
  await SWEEP_AUDIT_LOG.run(context, 'all', new AbortController().signal)
  t.strictSame(await fixture.db('audit_entries').pluck('details'), ['364'])
})
