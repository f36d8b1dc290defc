/** Packages that jobs publish with their tokens. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { forEachDatabase } from '../../helpers/databases.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { withToken } from '../../helpers/requests.js'
import { registerClient } from '../../helpers/runner-client.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

async function openFixture(t: Test, permissions: string, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location && { location })
  const { ask, db, port } = gateway
  const engine = await addWorkflowRepository(gateway, { isPrivate: true })
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

await forEachDatabase(t, 'a job publishes packages of its repository', async (t, location) => {
  const permissions = 'permissions: { packages: write }'
  const { as, ada, addToken, engine, send, put } = await openFixture(t, permissions, location)
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

t.test('a job without the permission publishes nothing', async (t) => {
  for (const permissions of ['', 'permissions: { contents: write }']) {
    const { put } = await openFixture(t, permissions)
    const refused = await put('ada', 'made', '1')
    t.match(refused, { status: 403, text: /lacks the permission 'packages: write'/ })
  }
})
