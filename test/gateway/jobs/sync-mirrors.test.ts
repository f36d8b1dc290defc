/** The job of every minute schedules the updates of due mirrors. */

import t from 'tap'
import { SYNC_MIRRORS } from '../../../gateway/jobs/sync-mirrors.js'
import { addSource } from '../../../sql/repositories/repository-sources.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'

t.test('each due mirror is scheduled as one job, however often', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  const mirror = {
    intervalMs: 60_000,
    credentialsSealed: undefined,
    hasWiki: false,
    lfs: undefined,
  }
  const ids: number[] = []
  for (const name of ['due', 'later']) {
    const { id } = await aRepository(db, ada.id, name)
    await addSource(db, id, { url: 'https://code.example.com/x.git', mirror })
    ids.push(id)
  }
  await db('repository_sources').where({ repository_id: ids[0] }).update({ next_at: 1 })
  const run = () => SYNC_MIRRORS.run(context, 'all', new AbortController().signal)
  await run()
  await run()
  const jobs = await db('jobs').select('kind', 'subject')
  t.strictSame(jobs, [{ kind: 'sync-mirror', subject: String(ids[0]) }])
})
