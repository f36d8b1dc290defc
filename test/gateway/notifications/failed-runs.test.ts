/** Notifications of users whose pushes and pull requests have made a run fail. */

import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { BASE_URL } from '../../helpers/gateway.js'
import type { Name } from '../../helpers/gateway-with-users.js'
import { untilAllAreNotified } from '../../helpers/notified.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const PATH = '/repos/ada/engine'

const WORKFLOW = (on: string) => `
on: ${on}
jobs:
  one: { runs-on: linux, steps: [{ run: 'true' }] }
  two: { runs-on: linux, steps: [{ run: 'true' }] }
`

const gateways = sharedGateways(t)

async function openFixture(gateway: SharedGateway) {
  const { as, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port, db })
  await as('ada', 'PUT', `${PATH}/collaborators/bob`, { permission: 'write' })
  async function execute(...results: readonly Result[]) {
    for (const result of results) await runner.report((await runner.fetchTask()).id, result)
  }
  /** Returns the subjects of the unread threads of a user. */
  async function unread(name: Name, query = '') {
    await untilAllAreNotified(gateway)
    const { json } = await as(name, 'GET', `/notifications${query}`)
    return (json as { subject: object }[]).map(({ subject }) => subject)
  }
  const read = (name: Name) => as(name, 'PUT', '/notifications')
  return { ...gateway, engine, execute, unread, read }
}

await gateways.onOneDatabase(
  'the user whose push has made a run fail is notified once for each attempt',
  async (t, gateway) => {
    const { engine, execute, unread, read, as } = await openFixture(gateway)
    const sha = await engine.commit(WORKFLOW('push'))
    await execute(Result.FAILURE, Result.FAILURE)
    const run = await engine.endedRun(1)
    const subject = {
      type: 'Commit',
      title: 'Change ci.yaml',
      state: '',
      url: `${BASE_URL}/api/v1${PATH}/git/commits/${sha}`,
      html_url: `${BASE_URL}/ada/engine/actions/runs/1`,
      latest_comment_url: '',
      latest_comment_html_url: '',
    }
    t.strictSame(await unread('ada'), [subject])
    t.strictSame(await unread('ada', '?subject-type=commit'), [subject])
    t.strictSame(await unread('ada', '?subject-type=issue'), [])
    t.strictSame(await unread('bob'), [], 'bob has not pushed')
    await read('ada')
    t.strictSame(await unread('ada'), [])
    await as('ada', 'POST', `${PATH}/actions/runs/${run.id}/rerun-failed-jobs`)
    await execute(Result.FAILURE, Result.SUCCESS)
    await engine.endedRun(1)
    t.strictSame(await unread('ada'), [subject], 'a further attempt has failed')
    const removed = await as('ada', 'DELETE', `${PATH}/actions/runs/${run.id}`)
    t.equal(removed.status, 204)
    t.strictSame(await unread('ada'), [], 'the thread is deleted with its run')
  },
)

await gateways.onOneDatabase(
  'no user is notified of a run that succeeds, is cancelled or was dispatched',
  async (t, gateway) => {
    const { engine, execute, unread, as } = await openFixture(gateway)
    await engine.commit(WORKFLOW('[push, workflow_dispatch]'))
    await execute(Result.SUCCESS, Result.SUCCESS)
    await engine.endedRun(1)
    await engine.commit(WORKFLOW('[push, workflow_dispatch] # again'))
    const { id } = await engine.run(2)
    t.equal((await as('ada', 'POST', `${PATH}/actions/runs/${id}/cancel`)).status, 200)
    await engine.endedRun(2)
    const dispatch = `${PATH}/actions/workflows/ci.yaml/dispatches`
    t.equal((await as('ada', 'POST', dispatch, { ref: 'main' })).status, 204)
    await execute(Result.FAILURE, Result.FAILURE)
    await engine.endedRun(3)
    t.strictSame(await unread('ada'), [])
  },
)

await gateways.onOneDatabase(
  'a failed run of a pull request is an unread thread of the pull request',
  async (t, gateway) => {
    const { engine, execute, unread, read, as } = await openFixture(gateway)
    await engine.commit(WORKFLOW('pull_request'))
    const file = { content: 'eA==', branch: 'main', new_branch: 'work' }
    await as('bob', 'POST', `${PATH}/contents/a`, file)
    await as('bob', 'POST', `${PATH}/pulls`, { title: 'A change', head: 'work', base: 'main' })
    await execute(Result.FAILURE, Result.SUCCESS)
    await engine.endedRun(1)
    const html_url = `${BASE_URL}/ada/engine/pulls/1`
    t.match(await unread('bob'), [{ type: 'Pull', title: 'A change', html_url }])
    await read('bob')
    t.strictSame(await unread('bob'), [])
    const { id } = await engine.run(1)
    await as('ada', 'POST', `${PATH}/actions/runs/${id}/rerun-failed-jobs`)
    await execute(Result.FAILURE)
    await engine.endedRun(1)
    t.equal((await unread('bob')).length, 1, 'a further attempt has failed')
  },
)

await gateways.forEachDatabase(
  'a user who can no longer read the repository is not notified of a failed run',
  async (t, gateway) => {
    const { engine, execute, unread, as, db } = await openFixture(gateway)
    await as('ada', 'PATCH', PATH, { private: true })
    await engine.commit(WORKFLOW('{ push: { branches: [work] } }'))
    const file = { content: 'eA==', branch: 'main', new_branch: 'work' }
    await as('bob', 'POST', `${PATH}/contents/a`, file)
    await engine.run(1)
    await as('ada', 'DELETE', `${PATH}/collaborators/bob`)
    await execute(Result.FAILURE, Result.SUCCESS)
    await engine.endedRun(1)
    t.strictSame(await unread('bob'), [])
    t.strictSame(await db('notifications').select(), [])
    await as('ada', 'PUT', `${PATH}/collaborators/bob`, { permission: 'read' })
    const { id } = await engine.endedRun(1)
    await as('ada', 'POST', `${PATH}/actions/runs/${id}/rerun-failed-jobs`)
    await execute(Result.FAILURE)
    await engine.endedRun(1)
    t.equal((await unread('bob')).length, 1)
    await as('ada', 'PATCH', PATH, { has_actions: false })
    t.strictSame(await unread('bob'), [], 'the page of the run is not served')
  },
)
