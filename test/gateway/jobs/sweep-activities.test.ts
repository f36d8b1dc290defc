/** Old activities are deleted. */

import t from 'tap'
import { SWEEP_ACTIVITIES } from '../../../gateway/jobs/sweep-activities.js'
import { recordActivities } from '../../../sql/accounts/activities.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'

const DAY_MS = 86_400_000

t.test('an activity is deleted 400 days after it was recorded', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db } = fixture
  const { id: actorId } = await fixture.addUser('ada')
  const { id: repositoryId } = await aRepository(db, actorId, 'r')
  const activity = { actorId, repositoryId, kind: 'create_issue', unit: 'issues' } as const
  for (const days of [401, 399]) {
    await recordActivities(db, [{ ...activity, content: `${days}` }])
    const created = { created_at: Date.now() - days * DAY_MS }
    await db('activities')
      .where({ content: `${days}` })
      .update(created)
  }
  for (const run of ['first', 'second']) {
    await SWEEP_ACTIVITIES.run(context, 'all', new AbortController().signal)
    t.strictSame(await db('activities').pluck('content'), ['399'], run)
  }
})
