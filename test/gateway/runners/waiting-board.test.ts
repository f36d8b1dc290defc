/** Choice of the jobs that held polls get, if more jobs wait than one look compares. */

import t from 'tap'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { aJob, aRun } from '../../helpers/run-rows.js'
import { registerClient } from '../../helpers/runner-client.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

t.test('jobs that no runner takes do not keep others waiting', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { db, port } = gateway
  const { repository } = await addWorkflowRepository(gateway)
  const labels = (at: number) => (at % 2 === 0 ? ['nowhere'] : ['linux', `nowhere-${at}`])
  for (let run = 0; run < 5; run += 1) {
    const jobs = Array.from({ length: 420 }, (_, at) => aJob(`j${at}`, { labels: labels(at) }))
    await aRun(db, repository.id, { jobs })
  }
  await aRun(db, repository.id, { jobs: [aJob('wanted')] })
  await db('workflow_jobs').update({ status: 'waiting' })
  const runner = await registerClient({ port, db })
  t.match(await runner.fetchTask(), { context: { job: 'wanted' } })
})
