/** Runs of changes with stored payloads: what each change starts, and from which files. */

import t from 'tap'
import { putSecret } from '../../../gateway/actions/runs/put-values.js'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { findRunPayload, type Run } from '../../../sql/runs/runs.js'
import type { Name } from '../../helpers/gateway-with-users.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const JOBS = "jobs: { build: { runs-on: linux, steps: [{ run: 'true' }] } }"
const REPOSITORY = '/repos/ada/engine'

const gateways = sharedGateways(t)

async function openFixture(gateway: SharedGateway) {
  const { as, db } = gateway
  const engine = await addWorkflowRepository(gateway)
  /** Sends a request below the repository. Throws if it fails. */
  async function send<T = { id: number; number: number }>(
    name: Name,
    method: string,
    path: string,
    body?: object,
  ): Promise<T> {
    const { status, json, text } = await as(name, method, `${REPOSITORY}${path}`, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`)
    return json as T
  }
  const payloadOf = async ({ id }: Run) => JSON.parse(await findRunPayload(db, id))
  /** Returns event and action of all runs, in their order. */
  async function started(): Promise<readonly string[]> {
    const runs = await engine.plannedRuns()
    return await Promise.all(
      runs.map(async (run) => `${run.event} ${(await payloadOf(run)).action}`),
    )
  }
  return { ...gateway, engine, send, payloadOf, started }
}

await gateways.onOneDatabase('changes of issues and comments start runs', async (t, gateway) => {
  const { send, engine, payloadOf, started, ada } = await openFixture(gateway)
  const commitId = await engine.commit(`on: [issues, issue_comment]\n${JOBS}`)
  const { number } = await send('ada', 'POST', '/issues', { title: 'Slow', body: 'Very.' })
  const issue = `/issues/${number}`
  const label = await send('ada', 'POST', '/labels', { name: 'bug', color: '#ff0000' })
  await send('ada', 'POST', `${issue}/labels`, { labels: [label.id] })
  await send('ada', 'DELETE', `${issue}/labels`)
  const milestone = (await send('ada', 'POST', '/milestones', { title: 'one' })).id
  await send('ada', 'PATCH', issue, { title: 'Slower', milestone, assignees: ['ada'] })
  await send('ada', 'PATCH', issue, { milestone: 0, assignees: [] })
  await send('ada', 'PATCH', issue, { state: 'closed' })
  await send('ada', 'PATCH', issue, { state: 'open' })
  const comment = await send('ada', 'POST', `${issue}/comments`, { body: 'first' })
  await send('ada', 'PATCH', `/issues/comments/${comment.id}`, { body: 'second' })
  await send('ada', 'DELETE', `/issues/comments/${comment.id}`)
  await send('ada', 'DELETE', issue)
  t.strictSame(await started(), [
    'issues opened',
    'issues label_updated',
    'issues label_cleared',
    'issues edited',
    'issues milestoned',
    'issues assigned',
    'issues demilestoned',
    'issues unassigned',
    'issues closed',
    'issues reopened',
    'issue_comment created',
    'issue_comment edited',
    'issue_comment deleted',
    'issues deleted',
  ])
  const runs = await engine.plannedRuns()
  for (const run of runs) {
    t.match(run, { commitId, reference: 'refs/heads/main', actorId: ada.id, isFromFork: false })
  }
  t.equal(runs[0]?.title, 'Slow')
  const [edited, deleted, removed] = await Promise.all(runs.slice(-3).map(payloadOf))
  t.match(edited, { comment: { body: 'second' }, changes: { body: { from: 'first' } } })
  t.match(deleted, { comment: { id: comment.id, body: 'second' }, issue: { title: 'Slower' } })
  t.match(removed, { issue: { number, body: 'Very.' }, sender: { login: 'ada' } })
  t.strictSame(await send('ada', 'GET', `/commits/${commitId}/statuses`), [], 'no statuses')
})

await gateways.onSqlite(
  'types in the words of workflow files select the changes',
  async (t, gateway) => {
    const { send, engine, started } = await openFixture(gateway)
    await engine.commit(
      `on: { issues: { types: [labeled, unlabeled] }, issue_comment: { types: [deleted] } }\n${JOBS}`,
    )
    await engine.commit(
      `on: { issues: { types: opened }, push: { branches: [x] } }\n${JOBS}`,
      'b.yml',
    )
    await engine.commit(`on: [push_issues, { issues: ]\n${JOBS}`, 'faulty.yml')
    const { number } = await send('ada', 'POST', '/issues', { title: 'One' })
    const label = await send('ada', 'POST', '/labels', { name: 'bug', color: '#ff0000' })
    await send('ada', 'PUT', `/issues/${number}/labels`, { labels: [label.id] })
    await send('ada', 'DELETE', `/issues/${number}/labels`)
    const comment = await send('ada', 'POST', `/issues/${number}/comments`, { body: 'x' })
    await send('ada', 'DELETE', `/issues/comments/${comment.id}`)
    await engine.plannedRuns()
    await send('ada', 'PUT', '/actions/workflows/ci.yaml/disable')
    await send('ada', 'DELETE', `/issues/${number}/labels`)
    t.strictSame(await started(), [
      'push undefined',
      'issues opened',
      'issues label_updated',
      'issues label_cleared',
      'issue_comment deleted',
    ])
  },
)

await gateways.onOneDatabase(
  'a comment on a pull request starts the file of the default branch, with secrets',
  async (t, gateway) => {
    const fixture = await openFixture(gateway)
    const { as, send, engine, payloadOf, db, port, bob } = fixture
    const file = (text: string) => `on: [issue_comment, pull_request_comment]\n${JOBS}\n# ${text}`
    const main = await engine.commit(file('main'))
    await putSecret(fixture, {}, { name: 'KEY', value: 'secret of the site', description: '' })
    await send('bob', 'POST', '/forks', {})
    const { content, sha } = await send<{ content: string; sha: string }>(
      'ada',
      'GET',
      '/contents/.gitea/workflows/ci.yaml',
    )
    t.match(Buffer.from(content, 'base64').toString(), /# main/)
    const changed = Buffer.from(file('a stranger')).toString('base64')
    const path = '/repos/bob/engine/contents/.gitea/workflows/ci.yaml'
    const body = { content: changed, sha, message: 'Mine', new_branch: 'work' }
    t.equal((await as('bob', 'PUT', path, body)).status, 200)
    const pull = { head: 'bob:work', base: 'main', title: 'A change' }
    const { number } = await send('bob', 'POST', '/pulls', pull)
    await send('bob', 'POST', `/issues/${number}/comments`, { body: 'run it' })
    const runs = await engine.plannedRuns()
    const events = runs.map(({ event }) => event)
    t.strictSame(events, ['issue_comment', 'pull_request_comment'])
    const [run, other] = runs
    t.match(other, { commitId: main, reference: 'refs/heads/main', actorId: bob.id })
    t.strictSame(other && (await payloadOf(other)), run && (await payloadOf(run)))
    t.match(run, {
      event: 'issue_comment',
      title: 'A change',
      commitId: main,
      reference: 'refs/heads/main',
      isFromFork: false,
      needsApproval: false,
      actorId: bob.id,
    })
    t.match(run && (await payloadOf(run)), {
      is_pull: true,
      comment: { body: 'run it' },
      pull_request: { number, head: { ref: 'work' } },
    })
    const runner = await registerClient({ port, db, scope: { repositoryId: engine.repository.id } })
    const task = await runner.fetchTask()
    t.match(task.context, {
      event_name: 'issue_comment',
      ref: 'refs/heads/main',
      sha: main,
      head_ref: '',
      base_ref: '',
      actor: 'bob',
      event: { comment: { body: 'run it' } },
    })
    t.match(task.secrets, { KEY: 'secret of the site' })
  },
)

await gateways.onOneDatabase(
  'created refs and releases start runs at their commit, deleted ones on the default branch',
  async (t, gateway) => {
    const { send, engine, payloadOf } = await openFixture(gateway)
    const first = await engine.commit(`on: [create, delete, release]\n${JOBS}`)
    const text = `on: [create, delete]\n${JOBS}`
    const content = Buffer.from(text).toString('base64')
    const path = '/contents/.gitea/workflows/work.yaml'
    const body = { content, message: 'Work', new_branch: 'work' }
    const { commit } = await send<{ commit: { sha: string } }>('ada', 'POST', path, body)
    await send('ada', 'DELETE', '/branches/work')
    const { id } = await send('ada', 'POST', '/releases', { tag_name: 'v1', name: 'One' })
    await engine.plannedRuns()
    const second = await engine.commit(`on: push\n${JOBS}`, 'other.yaml')
    await send('ada', 'PATCH', `/releases/${id}`, { name: 'Two' })
    await send('ada', 'DELETE', `/releases/${id}`)
    const runs = (await engine.plannedRuns()).filter(({ event }) => event !== 'push')
    t.strictSame(
      runs.map(({ event, workflowFile, reference, commitId }) =>
        [event, workflowFile, reference, commitId].join(' '),
      ),
      [
        `create ci.yaml refs/heads/work ${commit.sha}`,
        `create work.yaml refs/heads/work ${commit.sha}`,
        `delete ci.yaml refs/heads/main ${first}`,
        `create ci.yaml refs/tags/v1 ${first}`,
        `release ci.yaml refs/tags/v1 ${first}`,
        `release ci.yaml refs/tags/v1 ${first}`,
        `release ci.yaml refs/heads/main ${second}`,
      ],
    )
    const [created, , deleted, tag, published, edited, gone] = await Promise.all(
      runs.map(payloadOf),
    )
    t.match(created, { ref: 'work', ref_type: 'branch', sha: commit.sha })
    t.match(deleted, { ref: 'work', ref_type: 'branch', sender: { login: 'ada' } })
    t.match(tag, { ref: 'v1', ref_type: 'tag' })
    t.match(published, { action: 'published', release: { name: 'One', tag_name: 'v1' } })
    t.match(edited, { action: 'updated', release: { name: 'Two' } })
    t.match(gone, { action: 'deleted', release: { name: 'Two' } })
    t.match(runs[4], { title: 'One' })
  },
)

await gateways.onOneDatabase('forks and linked packages start runs', async (t, gateway) => {
  const { send, as, ask, authorizationOf, engine, payloadOf, bob } = await openFixture(gateway)
  const types = 'types: [published, deleted]'
  const commitId = await engine.commit(`on: { fork: , registry_package: { ${types} } }\n${JOBS}`)
  await send('bob', 'POST', '/forks', { name: 'mine' })
  const upload = async (path: string, method = 'PUT') => {
    const authorization = authorizationOf('ada')
    const body = method === 'PUT' ? { body: Buffer.from('data') } : {}
    const place = `/api/packages/ada/generic/${path}`
    t.ok((await ask({ method, path: place, authorization, ...body })).status < 300)
  }
  await upload('tool/1/a')
  await as('ada', 'POST', '/packages/ada/generic/tool/-/link/engine')
  await upload('tool/2/a')
  await upload('tool/2/b')
  await upload('tool/2', 'DELETE')
  const runs = await engine.plannedRuns()
  t.match(runs, [
    { event: 'fork', actorId: bob.id },
    { event: 'registry_package', title: 'tool 2' },
    { event: 'registry_package' },
  ])
  t.equal(runs.length, 3, 'a package that is not linked starts nothing')
  for (const run of runs) t.match(run, { commitId, reference: 'refs/heads/main' })
  const [fork, published, deleted] = await Promise.all(runs.map(payloadOf))
  t.match(fork, {
    forkee: { full_name: 'ada/engine' },
    repository: { full_name: 'bob/mine' },
    sender: { login: 'bob' },
  })
  const version = { package: { name: 'tool', version: '2' }, repository: { name: 'engine' } }
  t.match(published, { action: 'created', ...version })
  t.match(deleted, { action: 'deleted', ...version })
})

const OTHER_JOBS = "jobs: { build: { runs-on: other, steps: [{ run: 'true' }] } }"

await gateways.onOneDatabase('the steps of a run start other workflows', async (t, gateway) => {
  const { engine, payloadOf, db, port, ada } = await openFixture(gateway)
  const on = (workflow: string, filters = '') =>
    `on: { workflow_run: { workflows: [${workflow}]${filters} } }\n${OTHER_JOBS}`
  await engine.commit(`name: After\n${on('CI, Deploy')}`, 'after.yaml')
  await engine.commit(on('Deploy'), 'other.yaml')
  await engine.commit(on('CI', ', branches: [release]'), 'branch.yaml')
  await engine.commit(on('CI', ', types: [completed], branches: [main]'), 'done.yaml')
  const commitId = await engine.commit(`name: CI\non: push\n${JOBS}`)
  await engine.plannedRuns()
  const runner = await registerClient({ port, db })
  const task = await runner.fetchTask()
  await engine.plannedRuns()
  await runner.report(task.id, Result.SUCCESS)
  const [first, ...runs] = await engine.plannedRuns()
  const ran = await Promise.all(
    runs.map(async (run) => {
      t.match(run, { event: 'workflow_run', commitId, reference: 'refs/heads/main' })
      t.match(run, { chainDepth: 1, title: first?.title, actorId: ada.id })
      return `${run.workflowFile} ${(await payloadOf(run)).action}`
    }),
  )
  t.strictSame(ran, [
    'after.yaml requested',
    'after.yaml in_progress',
    'after.yaml completed',
    'done.yaml completed',
  ])
  const last = runs.at(-1)
  t.match(last && (await payloadOf(last)), {
    workflow: { name: 'CI', path: '.gitea/workflows/ci.yaml' },
    workflow_run: {
      id: first?.id,
      event: 'push',
      head_branch: 'main',
      head_sha: commitId,
      status: 'completed',
      conclusion: 'success',
    },
    repository: { full_name: 'ada/engine' },
    sender: { login: 'ada' },
  })
})

await gateways.onSqlite(
  'a chain of runs ends after five, and begins with no run that never waits',
  async (t, gateway) => {
    const { engine } = await openFixture(gateway)
    const skipped = OTHER_JOBS.replace('build: {', 'build: { if: false,')
    const loop =
      '{ workflow_run: { workflows: [Start, Skip, Loop], types: [requested, completed] } }'
    await engine.commit(`name: Loop\non: ${loop}\n${OTHER_JOBS}`, 'loop.yaml')
    await engine.commit(
      `name: Skip\non: { push: { paths: ['**/skip.yaml'] } }\n${skipped}`,
      'skip.yaml',
    )
    t.strictSame(
      (await engine.plannedRuns()).map(({ workflowName, status }) => [workflowName, status]),
      [['Skip', 'skipped']],
    )
    await engine.commit(`name: Start\non: push\n${OTHER_JOBS}`, 'start.yaml')
    t.strictSame(
      (await engine.plannedRuns()).slice(1).map((run) => `${run.workflowName} ${run.chainDepth}`),
      ['Start 0', 'Loop 1', 'Loop 2', 'Loop 3', 'Loop 4', 'Loop 5'],
    )
  },
)
