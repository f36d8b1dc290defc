/** Packages that jobs publish with their tokens. */

import t from 'tap'
import { withToken } from '../../helpers/requests.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const gateways = sharedGateways(t)

async function openFixture(gateway: SharedGateway, permissions: string, name = 'engine') {
  const { ask, db, port } = gateway
  const engine = await addWorkflowRepository(gateway, { name, isPrivate: true })
  const runner = await registerClient({ port, db })
  await engine.commit(`on: push
${permissions}
jobs: { build: { runs-on: linux, steps: [{ run: 'true' }] } }
`)
  const task = await runner.fetchTask()
  const authorization = withToken(task.secrets['GITHUB_TOKEN'] ?? '')
  const send = (method: string, path: string, as = authorization) =>
    ask({
      method,
      path,
      authorization: as,
      ...(method === 'PUT' ? { body: `bytes of ${path}` } : {}),
    })
  const put = (owner: string, name: string, version: string) =>
    send('PUT', `/api/packages/${owner}/generic/${name}/${version}/file`)
  return { ...gateway, engine, send, put }
}

await gateways.onOneDatabase('a job publishes packages of its repository', async (t, gateway) => {
  const permissions = 'permissions: { packages: write }'
  const { as, ada, addToken, engine, send, put } = await openFixture(gateway, permissions)
  const own = withToken((await addToken(ada, 'write:package')).plain)
  const path = '/api/packages/ada/generic/by-ada/1/file'
  t.equal((await send('PUT', path, own)).status, 201)

  t.equal((await put('ada', 'made', '1')).status, 201)
  t.equal((await put('ada', 'Made', '2')).status, 201, 'another version')
  const { json } = await as('ada', 'GET', '/packages/ada/generic/made/2')
  t.match(json, { creator: { login: 'gitea-actions' }, repository: { id: engine.repository.id } })
  const foreign = await put('ada', 'by-ada', '2')
  t.match(foreign, { status: 403, text: /by-ada is not linked to the repository of this job/ })
  t.equal((await send('DELETE', path)).status, 403)
  t.equal((await send('DELETE', '/api/v1/packages/ada/generic/by-ada/1')).status, 403)
  t.equal((await put('bob', 'made', '1')).status, 401, 'of another owner')
  t.equal((await send('DELETE', '/api/packages/ada/generic/made/1/file')).status, 204)
  t.equal((await send('DELETE', '/api/v1/packages/ada/generic/made/2')).status, 204)
  t.equal((await as('ada', 'GET', '/packages/ada/generic/by-ada/1')).status, 200)
})

await gateways.onSqlite('a job without the permission publishes nothing', async (t, gateway) => {
  for (const [name, permissions] of [
    ['without', ''],
    ['other', 'permissions: { contents: write }'],
  ] as const) {
    const { put } = await openFixture(gateway, permissions, name)
    const refused = await put('ada', 'made', '1')
    t.match(refused, { status: 403, text: /lacks the permission 'packages: write'/ })
  }
})
