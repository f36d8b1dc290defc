/** Statuses of jobs: they block a merge, and free it. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { onOneDatabase } from '../../helpers/databases.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { registerClient } from '../../helpers/runner-client.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const WORKFLOW = `
name: CI
on: push
jobs:
  build: { runs-on: linux, steps: [{ run: 'true' }] }
`

await onOneDatabase(t, 'a required job blocks a merge until it succeeds', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { as, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port, db })
  const execute = async (result: Result) => {
    const task = await runner.fetchTask()
    await runner.report(task.id, result)
  }
  await engine.commit(WORKFLOW)
  await execute(Result.SUCCESS)
  const path = '/repos/ada/engine'
  const rule = {
    rule_name: 'main',
    enable_push: true,
    enable_status_check: true,
    status_check_contexts: ['CI / build (push)'],
  }
  t.equal((await as('ada', 'POST', `${path}/branch_protections`, rule)).status, 201)
  const openPull = async (branch: string) => {
    const file = { content: 'eA==', message: branch, branch: 'main', new_branch: branch }
    t.equal((await as('ada', 'POST', `${path}/contents/${branch}`, file)).status, 201)
    const pull = { title: branch, head: branch, base: 'main' }
    const { json } = await as('ada', 'POST', `${path}/pulls`, pull)
    return `${path}/pulls/${(json as { number: number }).number}`
  }

  const failing = await openPull('failing')
  await engine.run(2)
  t.equal((await as('ada', 'POST', `${failing}/merge`, { Do: 'merge' })).status, 405, 'pending')
  await execute(Result.FAILURE)
  t.equal((await as('ada', 'POST', `${failing}/merge`, { Do: 'merge' })).status, 405, 'failed')
  const { id } = await engine.endedRun(2)
  const rerun = await as('ada', 'POST', `${path}/actions/runs/${id}/rerun-failed-jobs`)
  t.equal(rerun.status, 201)
  t.equal((await as('ada', 'POST', `${failing}/merge`, { Do: 'merge' })).status, 405, 'again')
  await execute(Result.SUCCESS)
  await engine.endedRun(2)
  t.equal((await as('ada', 'POST', `${failing}/merge`, { Do: 'merge' })).status, 200, 'repeated')

  await engine.run(3)
  await execute(Result.SUCCESS)
  const good = await openPull('good')
  await engine.run(4)
  const later = { Do: 'merge', merge_when_checks_succeed: true }
  t.equal((await as('ada', 'POST', `${good}/merge`, later)).status, 201, 'scheduled')
  await execute(Result.SUCCESS)
  const isMerged = async () => (await as('ada', 'GET', `${good}/merge`)).status === 204
  for (let tries = 0; tries < 200 && !(await isMerged()); tries += 1) await sleep(50)
  t.ok(await isMerged(), 'the scheduled merge is done when the job has succeeded')
})
