/** Reach of a job token: it reads the repository of its job while a runner works on the job. */

import { join } from 'node:path'
import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { updateRepository } from '../../../sql/repositories/repositories.js'
import { listRuns } from '../../../sql/runs/runs.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { withToken } from '../../helpers/requests.js'
import { registerClient } from '../../helpers/runner-client.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const gateways = sharedGateways(t)

const WORKFLOW = `
on: push
jobs:
  build:
    runs-on: linux
    steps: [{ run: 'true' }]
`

await gateways.onSqlite(
  'a job token without permissions in the file reads until the job ends',
  async (t, gateway) => {
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
  },
)

await gateways.onSqlite(
  'a job token writes what the workflow permits, as the account of jobs',
  async (t, gateway) => {
    const { ask, db, port } = gateway
    const engine = await addWorkflowRepository(gateway, { isPrivate: true })
    const runner = await registerClient({ port, db })
    const permissions = 'permissions: { contents: write, issues: write, statuses: read }'
    await engine.commit(`${permissions}\n${WORKFLOW}`)
    const task = await runner.fetchTask()
    const token = task.secrets['GITHUB_TOKEN'] ?? ''
    const send = (method: string, path: string, body: unknown) =>
      ask({
        method,
        path: `/api/v1/repos/ada/engine${path}`,
        authorization: withToken(token),
        body,
      })
    const cwd = await temporaryFolder(t)
    const address = `http://x-access-token:${token}@127.0.0.1:${port}/ada/engine`
    await git(['clone', address, 'engine'], { cwd })
    const work = { cwd: join(cwd, 'engine') }
    await git(['commit', '--allow-empty', '-m', 'By a job'], work)
    await git(['push', 'origin', 'main', 'main:work'], work)
    const content = Buffer.from('x').toString('base64')
    const file = await send('POST', '/contents/made', { content, message: 'Made by a job' })
    t.equal(file.status, 201, file.text)
    const issue = await send('POST', '/issues', { title: 'By a job' })
    t.match(issue.json, { number: 1, user: { id: -2, login: 'gitea-actions' } })
    const release = await send('POST', '/releases', { tag_name: 'v1', target_commitish: 'main' })
    t.match(release.json, { tag_name: 'v1', author: { login: 'gitea-actions' } })
    const refused = [
      ['POST', `/statuses/${task.context?.['sha']}`, { state: 'success', context: 'x' }],
      ['POST', '/pulls', { head: 'work', base: 'main', title: 'x' }],
      ['POST', '/forks', {}],
      ['PATCH', '', { description: 'x' }],
      ['DELETE', '', undefined],
    ] as const
    for (const [method, path, body] of refused) {
      const { status, text } = await send(method, path, body)
      t.equal(status, path.startsWith('/pulls') ? 404 : 403, `${method} ${path}: ${text}`)
    }
    const message = (await send('POST', '/forks', {})).text
    t.match(message, /lacks the permission 'contents: write', or no job may do this/)
    await runner.report(task.id, Result.SUCCESS)
    const { total } = await listRuns(db, engine.repository.id, { page: 1, limit: 50 })
    t.equal(total, 1, 'what a job has pushed starts no run')
  },
)

await gateways.onSqlite(
  'repositories may let jobs write, and jobs of forks never do',
  async (t, gateway) => {
    const { as, ask, db, port } = gateway
    const engine = await addWorkflowRepository(gateway)
    await updateRepository(db, engine.repository.id, {
      preferences: { has_actions: true, actions_token_writes: true },
    })
    const scope = { repositoryId: engine.repository.id }
    const runner = await registerClient({ port, db, scope })
    await engine.commit(WORKFLOW.replace('on: push', 'on: [push, pull_request]'))
    const comment = (token: string) =>
      ask({
        method: 'POST',
        path: '/api/v1/repos/ada/engine/issues',
        authorization: withToken(token),
        body: { title: 'x' },
      })
    const own = await runner.fetchTask()
    t.equal((await comment(own.secrets['GITHUB_TOKEN'] ?? '')).status, 201)
    await as('bob', 'POST', '/repos/ada/engine/forks', {})
    const content = Buffer.from(
      `permissions: write-all${WORKFLOW.replace('push', 'pull_request')}`,
    ).toString('base64')
    const path = '/repos/bob/engine/contents/.gitea/workflows/more.yaml'
    const change = { content, message: 'x', branch: 'main', new_branch: 'work' }
    await as('bob', 'POST', path, change)
    const pull = { head: 'bob:work', base: 'main', title: 'x' }
    await as('bob', 'POST', '/repos/ada/engine/pulls', pull)
    await engine.run(3)
    await db('workflow_runs').update({ needs_approval: false })
    await db('workflow_jobs').where({ status: 'blocked' }).update({ status: 'waiting' })
    for (const count of [1, 2]) {
      const foreign = await runner.fetchTask()
      t.equal((await comment(foreign.secrets['GITHUB_TOKEN'] ?? '')).status, 403, `job ${count}`)
    }
  },
)
