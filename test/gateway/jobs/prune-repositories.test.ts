/** The hourly job schedules pruning of a part of the repositories if it is enabled. */

import t from 'tap'
import { PRUNE_REPOSITORIES } from '../../../gateway/jobs/prune-repositories.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000

t.test('each repository is scheduled once within the configured interval', async (t) => {
  const environment = { GATEHOUSE_MAINTENANCE_PRUNE_EVERY: '3h' }
  const { context, fixture } = await openContext(t, { environment })
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    ids.push(String((await aRepository(db, ada.id, name)).id))
  }
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const asked: string[] = []
  for (let hour = 0; hour < 3; hour += 1) {
    Date.now = () => now() + hour * HOUR_MS
    await PRUNE_REPOSITORIES.run(context, 'all', signal)
    const jobs: { kind: string; subject: string }[] = await db('jobs').select('kind', 'subject')
    t.ok(jobs.length < ids.length, 'a part of them per run')
    t.ok(jobs.every(({ kind }) => kind === 'prune-repository'))
    asked.push(...jobs.map(({ subject }) => subject))
    await db('jobs').delete()
  }
  t.strictSame(asked.sort(), ids.sort())
})

t.test('by default no repository is scheduled', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  await aRepository(fixture.db, ada.id, 'a')
  await PRUNE_REPOSITORIES.run(context, 'all', signal)
  t.strictSame(await fixture.db('jobs'), [])
})
