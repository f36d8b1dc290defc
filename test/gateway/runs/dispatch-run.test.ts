/** Workflows that users start, over the API and on the page. */

import t from 'tap'
import { withToken } from '../../helpers/requests.js'
import { registerClient } from '../../helpers/runner-client.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'
import { postForm, signIn } from '../../helpers/web-forms.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const WORKFLOW = `
name: Release
on:
  workflow_dispatch:
    inputs:
      version: { description: 'The <version>', required: true }
      debug: { type: boolean }
permissions: { actions: write }
jobs:
  build: { runs-on: linux, steps: [{ run: 'true' }] }
  debug: { runs-on: linux, if: inputs.debug, steps: [{ run: 'true' }] }
`

const PATH = '/repos/ada/engine/actions/workflows'

const gateways = sharedGateways(t)

await gateways.onOneDatabase('a workflow is started with its inputs', async (t, gateway) => {
  const { as, ask, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const commit = await engine.commit(WORKFLOW)
  const start = (body: object, query = '') =>
    as('ada', 'POST', `${PATH}/ci.yaml/dispatches${query}`, body)
  const inputs = { version: '1.0' }
  t.equal((await start({ ref: 'main', inputs })).status, 204)
  t.match(await engine.run(1), {
    event: 'workflow_dispatch',
    commitId: commit,
    workflowName: 'Release',
  })
  t.strictSame(await engine.statuses(1), { build: 'waiting', debug: 'skipped' })
  const debugged = await start(
    { ref: 'refs/heads/main', inputs: { ...inputs, debug: 'true' } },
    '?return_run_details=true',
  )
  t.match(debugged, { status: 200, json: { html_url: /\/ada\/engine\/actions\/runs\/2$/ } })
  t.match(await engine.statuses(2), { debug: 'waiting' })

  const runner = await registerClient({ port, db })
  const task = await runner.fetchTask()
  t.match(task.context, {
    event_name: 'workflow_dispatch',
    ref: 'refs/heads/main',
    event: { inputs: { version: '1.0', debug: 'false' }, sender: { login: 'ada' } },
  })
  const payload = JSON.parse(Buffer.from(task.workflowPayload ?? []).toString())
  t.match(payload, { on: { workflow_dispatch: { inputs: { debug: { type: 'boolean' } } } } })
  const byJob = await ask({
    method: 'POST',
    path: `/api/v1${PATH}/ci.yaml/dispatches`,
    authorization: withToken(task.secrets['GITHUB_TOKEN'] ?? ''),
    body: { ref: 'main', inputs },
  })
  t.equal(byJob.status, 204, 'a job with the permission may start another run')
  await engine.run(3)
})

await gateways.onSqlite(
  'requests that do not fit are refused with the reason',
  async (t, gateway) => {
    const { as } = gateway
    const engine = await addWorkflowRepository(gateway)
    await engine.commit('on: push\njobs: { a: { runs-on: x, steps: [{ run: y }] } }\n', 'push.yaml')
    await engine.commit('on: workflow_dispatch\njobs: {}\n', 'broken.yaml')
    await engine.commit(WORKFLOW)
    const inputs = { version: '1' }
    const refused = [
      ['ada', 'ci.yaml', { ref: 'main' }, 422, /the input 'version' is required/],
      ['ada', 'ci.yaml', { ref: 'main', inputs: { ...inputs, x: 'y' } }, 422, /has no input 'x'/],
      ['ada', 'ci.yaml', { ref: 'other', inputs }, 404, /branch or tag other does not exist/],
      ['ada', 'ci.yaml', { ref: '../x', inputs }, 404, /branch or tag/],
      ['ada', 'ci.yaml', { inputs }, 422, /\[Ref\]: Required/],
      ['ada', 'none.yaml', { ref: 'main' }, 404, /workflows\/none\.yaml does not exist at main/],
      ['ada', 'push.yaml', { ref: 'main' }, 422, /has no 'workflow_dispatch'/],
      ['ada', 'broken.yaml', { ref: 'main' }, 422, /broken\.yaml:2:7: jobs has no job/],
      ['bob', 'ci.yaml', { ref: 'main', inputs }, 403, /permission/],
    ] as const
    for (const [name, file, body, status, message] of refused) {
      const answer = await as(name, 'POST', `${PATH}/${file}/dispatches`, body)
      t.equal(answer.status, status, `${file}: ${answer.text}`)
      t.match(answer.text, message)
    }
    await as('ada', 'PUT', `${PATH}/ci.yaml/disable`)
    const disabled = await as('ada', 'POST', `${PATH}/ci.yaml/dispatches`, { ref: 'main', inputs })
    t.match(disabled, { status: 422, text: /The workflow ci\.yaml is disabled/ })
  },
)

await gateways.onSqlite('the page of a workflow has a form with its inputs', async (t, gateway) => {
  const engine = await addWorkflowRepository(gateway)
  await engine.commit(WORKFLOW)
  const [ada, bob] = [await signIn(gateway, 'ada'), await signIn(gateway, 'bob')]
  const path = '/ada/engine/actions/workflows/ci.yaml/run'
  const get = (cookie: string) => gateway.ask({ path, headers: { cookie } })
  t.match((await gateway.ask({ path: '/ada/engine/actions', headers: { cookie: ada } })).text, path)
  t.equal((await get(bob)).status, 403)
  const { text } = await get(ada)
  t.match(text, /<label for="input\.version">The &lt;version> \(required\)<\/label>/)
  t.match(text, /<select id="input\.debug" name="input\.debug">/)
  const send = (fields: Readonly<Record<string, string>>) =>
    postForm(gateway, path, { ref: 'refs/heads/main', ...fields }, { cookie: ada })
  const refused = await send({ 'input.version': '', 'input.debug': 'true' })
  t.match(refused, {
    status: 422,
    text: /the input &#39;version&#39; is required|the input 'version'/,
  })
  t.match(refused.text, /<option value="true" selected/, 'the sent values are kept')
  const started = await send({ 'input.version': '2', 'input.debug': 'false' })
  t.match(started, { status: 303, headers: { location: /\/ada\/engine\/actions\/runs\/1$/ } })
  t.match(await engine.run(1), { event: 'workflow_dispatch' })
})
