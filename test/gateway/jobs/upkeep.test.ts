/** Maintenance after a push is scheduled by a job and never makes the push fail. */

import t from 'tap'
import { createUpkeep } from '../../../gateway/jobs/upkeep.js'
import { closeDatabase } from '../../../sql/database/database.js'
import { selectRows } from '../../../sql/database/dialect.js'
import { openContext } from '../../helpers/gateway.js'

const ENABLED = { GATEHOUSE_MAINTENANCE_ENABLED: 'true', GATEHOUSE_MAINTENANCE_DELAY: '30s' }

t.test('a burst of pushes schedules one job after the delay', async (t) => {
  const { context, fixture } = await openContext(t, { environment: ENABLED })
  const upkeep = createUpkeep(context)
  await Promise.all([7, 7, 7, 8].map((id) => upkeep.enqueueMaintenance({ id })))
  const rows = await selectRows<{ run_after: number }>(
    fixture.db,
    'select kind, subject, run_after from jobs order by subject',
  )
  t.match(rows, [
    { kind: 'maintain-repository', subject: '7' },
    { kind: 'maintain-repository', subject: '8' },
  ])
  for (const row of rows) t.ok(Math.abs(row.run_after - Date.now() - 30_000) < 5_000)
})

t.test('with maintenance disabled a push schedules no job', async (t) => {
  const { context, fixture } = await openContext(t)
  const upkeep = createUpkeep(context)
  upkeep.start()
  await upkeep.enqueueMaintenance({ id: 7 })
  await upkeep.stop()
  const rows = await selectRows(fixture.db, 'select kind, subject from jobs order by kind')
  const expected = [
    { kind: 'start-schedules', subject: 'all' },
    { kind: 'sweep-runs', subject: 'all' },
    { kind: 'sync-push-mirrors', subject: 'all' },
  ]
  t.strictSame(rows, expected, 'only runs and push mirrors are looked after')
})

t.test('an unreachable database is logged and nothing is thrown', async (t) => {
  const { context, fixture } = await openContext(t, { environment: ENABLED })
  const upkeep = createUpkeep(context)
  await closeDatabase(fixture.db)
  await upkeep.enqueueMaintenance({ id: 7 })
  t.match(fixture.lines.at(-1), {
    level: 40,
    msg: 'the maintenance after a push was not enqueued',
    repository: 7,
  })
  upkeep.start()
  await upkeep.stop()
})
