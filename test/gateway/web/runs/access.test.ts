/** Access to the pages of workflow runs. */

import t, { type Test } from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aRun, aTask, jobAt, logRows } from '../../../helpers/run-rows.js'
import { signIn } from '../../../helpers/web-forms.js'

const PATHS = ['', '/runs/1', '/runs/1/jobs/0', '/runs/1/jobs/0/logs']

/** Starts a gateway with a run in ada's repository `r`. */
async function openFixture(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const made = await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  await gateway.as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const run = await aRun(gateway.db, (made.json as { id: number }).id)
  const job = await jobAt(gateway.db, run, 0)
  const repositoryId = run.repositoryId
  await aTask(gateway.db, job, { repositoryId, status: 'running', rows: logRows('secret') })
  return { ...gateway, see: (path: string) => gateway.ask({ path }) }
}

t.test('without Actions there is no tab, and the pages look missing', async (t) => {
  const { as, see } = await openFixture(t)
  for (const path of PATHS) t.equal((await see(`/ada/r/actions${path}`)).status, 200, path)
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: false })
  t.notMatch((await see('/ada/r')).text, /\/ada\/r\/actions/)
  const missing = await see('/ada/none/actions')
  for (const path of PATHS) {
    const { status, text } = await see(`/ada/r/actions${path}`)
    t.strictSame({ status, text }, { status: 404, text: missing.text }, path)
  }
})

t.test('the runs of a private repository look missing without access to it', async (t) => {
  const gateway = await openFixture(t)
  const { as, ask, see } = gateway
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  const [ada, bob] = [await signIn(gateway, 'ada'), await signIn(gateway, 'bob')]
  const missing = await see('/ada/none/actions')
  for (const path of PATHS) {
    for (const { status, text } of [
      await see(`/ada/r/actions${path}`),
      await ask({ path: `/ada/r/actions${path}`, headers: { cookie: bob } }),
    ]) {
      t.strictSame({ status, text }, { status: 404, text: missing.text }, path)
    }
    const own = await ask({ path: `/ada/r/actions${path}`, headers: { cookie: ada } })
    t.equal(own.status, 200, path)
  }
})
