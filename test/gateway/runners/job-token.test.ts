/** Reach of a job token: it reads the repository of its job while a runner works on the job. */

import { join } from 'node:path'
import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { withToken } from '../../helpers/requests.js'
import { registerClient } from '../../helpers/runner-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const WORKFLOW = `
on: push
jobs:
  build:
    runs-on: linux
    steps: [{ run: 'true' }]
`

t.test('a job token reads its repository until the job ends', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { as, ask, db, port } = gateway
  const engine = await addWorkflowRepository(gateway, { isPrivate: true })
  await as('ada', 'POST', '/user/repos', { name: 'secret', auto_init: true, private: true })
  await as('ada', 'POST', '/user/repos', { name: 'open', auto_init: true })
  const runner = await registerClient({ port, db })
  await engine.commit(WORKFLOW)
  const task = await runner.fetchTask()
  const token = task.secrets['GITHUB_TOKEN'] ?? ''
  const cwd = await temporaryFolder(t)
  const remote = (name: string) => `http://x-access-token:${token}@127.0.0.1:${port}/ada/${name}`
  await git(['clone', remote('engine'), 'engine'], { cwd })
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const address = `http://127.0.0.1:${port}/ada/engine`
  await git(['-c', `http.extraHeader=${header}`, 'clone', address, 'again'], { cwd })
  await git(['clone', remote('open'), 'open'], { cwd })

  const work = { cwd: join(cwd, 'engine') }
  await git(['commit', '--allow-empty', '-m', 'x'], work)
  const push = await tryGit(['push', 'origin', 'main'], work)
  t.match(push.errorText, /403/, 'it does not write')
  const secret = await tryGit(['clone', remote('secret'), 'secret'], { cwd })
  t.match(secret.errorText, /not found/, 'another private repository looks missing')

  const get = (path: string, method = 'GET', body?: unknown) =>
    ask({ method, path: `/api/v1${path}`, authorization: withToken(token), body })
  t.equal((await get('/repos/ada/engine')).status, 200)
  t.equal((await get('/repos/ada/engine/issues')).status, 200)
  const refused = [
    ['GET', '/user', 401],
    ['GET', '/repos/ada/secret', 404],
    ['POST', '/repos/ada/engine/issues', 403],
    ['DELETE', '/repos/ada/engine', 403],
    ['PATCH', '/repos/ada/engine', 403],
    ['GET', '/repos/ada/engine/hooks', 403],
    ['GET', '/repos/ada/engine/keys', 403],
    ['GET', '/admin/users', 401],
    ['POST', '/user/repos', 401],
  ] as const
  for (const [method, path, status] of refused) {
    const { text, ...answer } = await get(path, method, method === 'GET' ? undefined : {})
    t.equal(answer.status, status, `${method} ${path}: ${text}`)
  }
  const listed = (await get('/repos/search')).json as { data: { name: string }[] }
  t.strictSame(
    listed.data.map(({ name }) => name),
    ['open'],
    'lists show public repositories',
  )

  await runner.report(task.id, Result.SUCCESS)
  t.equal((await get('/repos/ada/engine')).status, 401, 'the token ends with the job')
  const late = await tryGit(['fetch', 'origin'], work)
  t.match(late.errorText, /Authentication failed|401/)
})
