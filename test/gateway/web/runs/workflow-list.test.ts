/** Workflows on the page of runs: names, states, and the forms that switch them. */

import t from 'tap'
import { disabledWorkflows } from '../../../../sql/runs/workflow-switches.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { postForm, signIn } from '../../../helpers/web-forms.js'
import { addWorkflowRepository } from '../../../helpers/workflow-repository.js'

const WORKFLOW = `
name: <b>Build
on: schedule
jobs: { a: { runs-on: linux, steps: [{ run: ls }] } }
`

t.test('workflows are listed with their states, and switched by users who write', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { as, ask, db } = gateway
  const engine = await addWorkflowRepository(gateway)
  const path = '/ada/engine/actions'
  const see = async (cookie: string) => (await ask({ path, headers: { cookie } })).text
  const [ada, bob] = [await signIn(gateway, 'ada'), await signIn(gateway, 'bob')]
  t.notMatch(await see(ada), /Workflows \(/)
  await engine.commit(WORKFLOW, 'a.yaml')
  const post = (file: string, disabled: string, cookie: string) =>
    postForm(gateway, `${path}/workflows`, { file, disabled }, { cookie })
  const disabled = async () => [...(await disabledWorkflows(db, engine.repository.id))]
  t.match(await see(bob), /Workflows \(1\).*<strong>&lt;b>Build<\/strong> <code>a\.yaml<\/code>/s)
  t.notMatch(await see(bob), /\/actions\/workflows"/)
  t.match(await see(ada), /\/actions\/workflows".*Disable<\/button>/s)
  t.equal((await post('a.yaml', 'yes', bob)).status, 403)
  t.equal((await post('b.yaml', 'yes', ada)).status, 404)
  t.strictSame(await disabled(), [])
  const { status, headers } = await post('a.yaml', 'yes', ada)
  t.strictSame([status, headers.location], [303, path])
  t.strictSame(await disabled(), ['a.yaml'])
  t.match(await see(ada), /<span class="label">disabled<\/span>.*Enable<\/button>/s)
  await post('a.yaml', 'no', ada)
  t.strictSame(await disabled(), [])
  await as('ada', 'PATCH', '/repos/ada/engine', { has_actions: false })
  t.equal((await post('a.yaml', 'yes', ada)).status, 404)
})
