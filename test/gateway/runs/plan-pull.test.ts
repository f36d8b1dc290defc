/** Runs that pull requests start, and approval of those whose commits are of forks. */

import t from 'tap'
import { putSecret } from '../../../gateway/actions/runs/put-values.js'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { planEvent } from '../../../gateway/runs/plan-event.js'
import { addRunEvent } from '../../../sql/runs/events.js'
import { findRunPayload, listRuns, type Run } from '../../../sql/runs/runs.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { postForm, signIn } from '../../helpers/web-forms.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const JOBS = `jobs:
  build:
    runs-on: linux
    steps: [{ run: 'true' }]
`

type Name = 'ada' | 'bob'

const gateways = sharedGateways(t)

async function openFixture(gateway: SharedGateway) {
  const { as, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const scope = { repositoryId: engine.repository.id }
  const runner = await registerClient({ port, db, scope })
  async function commit(user: Name, owner: Name, branch: string, text: string) {
    const path = `/repos/${owner}/engine/contents/${encodeURIComponent(text)}`
    const content = Buffer.from(text).toString('base64')
    const branches = await as(user, 'GET', `/repos/${owner}/engine/branches/${branch}`)
    const names = branches.status === 200 ? { branch } : { branch: 'main', new_branch: branch }
    const answer = await as(user, 'POST', path, { content, message: text, ...names })
    if (answer.status !== 201) throw new Error(answer.text)
    return (answer.json as { commit: { sha: string } }).commit.sha
  }
  async function fork(): Promise<void> {
    const { status, text } = await as('bob', 'POST', '/repos/ada/engine/forks', {})
    if (status !== 202) throw new Error(text)
  }
  async function openPull(user: Name, head: string, title = 'A change') {
    const answer = await as(user, 'POST', '/repos/ada/engine/pulls', { head, base: 'main', title })
    if (answer.status !== 201) throw new Error(answer.text)
    return answer.json as { number: number }
  }
  async function runsOf(event: string): Promise<readonly Run[]> {
    const { entries } = await listRuns(db, engine.repository.id, { page: 1, limit: 50 })
    return entries.filter((run) => run.event === event).reverse()
  }
  return { ...gateway, engine, runner, scope, commit, fork, openPull, runsOf }
}

await gateways.onOneDatabase('a pull request starts runs at its head', async (t, gateway) => {
  const { commit, openPull, engine, runner, as, runsOf } = await openFixture(gateway)
  await engine.commit(`on: { pull_request: { types: [opened, synchronize, closed] } }\n${JOBS}`)
  const head = await commit('ada', 'ada', 'work', 'one')
  const { number } = await openPull('ada', 'work', 'Add one')
  t.match(await engine.run(1), {
    event: 'pull_request',
    title: 'Add one',
    commitId: head,
    reference: `refs/pull/${number}/head`,
    isFromFork: false,
    needsApproval: false,
  })
  const task = await runner.fetchTask()
  t.match(task.context, {
    event_name: 'pull_request',
    ref: `refs/pull/${number}/head`,
    ref_name: `${number}/head`,
    sha: head,
    head_ref: 'work',
    base_ref: 'main',
    secret_source: 'Actions',
    event: { action: 'opened', number, pull_request: { title: 'Add one', head: { sha: head } } },
  })
  await runner.report(task.id, Result.SUCCESS)
  const statuses = await as('ada', 'GET', `/repos/ada/engine/commits/${head}/statuses`)
  t.match((statuses.json as object[])[0], { context: 'ci / build (pull_request)' })
  const second = await commit('ada', 'ada', 'work', 'two')
  t.match(await engine.run(2), { event: 'pull_request', commitId: second })
  const moved = await runner.fetchTask()
  t.match(moved.context, { event: { action: 'synchronized' } })
  await as('ada', 'PATCH', `/repos/ada/engine/pulls/${number}`, { title: 'Other' })
  await as('ada', 'PATCH', `/repos/ada/engine/pulls/${number}`, { state: 'closed' })
  t.match(await engine.run(3), { title: 'Other', commitId: second })
  t.equal((await runsOf('pull_request')).length, 3, 'an action that is not named starts none')
})

await gateways.onOneDatabase(
  'a run of an unknown author waits for approval',
  async (t, gateway) => {
    const fixture = await openFixture(gateway)
    const { commit, openPull, engine, runner, ask, runsOf, db, port } = fixture
    const secret = { name: 'KEY', value: 'secret of the site', description: '' }
    await putSecret(fixture, {}, secret)
    await engine.commit(`on: [pull_request, pull_request_target]\n${JOBS}`)
    const base = await engine.commit(`on: pull_request\n${JOBS}`, 'other.yaml')
    await fixture.fork()
    const head = await commit('bob', 'bob', 'work', 'one')
    const { number } = await openPull('bob', 'bob:work')
    const target = await engine.run(3)
    t.match(target, { event: 'pull_request_target', isFromFork: false, needsApproval: false })
    t.match(target, { commitId: base, reportedCommitId: head, reference: 'refs/heads/main' })
    const runs = await runsOf('pull_request')
    t.equal(runs.length, 2)
    for (const run of runs) {
      t.match(run, { isFromFork: true, needsApproval: true, status: 'blocked', commitId: head })
    }
    const task = await runner.fetchTask()
    t.match(task.context, { event_name: 'pull_request_target', sha: base })
    t.match(task.secrets, { KEY: 'secret of the site' })
    const path = `/ada/engine/actions/runs/${runs[0]?.number}`
    t.match((await ask({ path })).text, /jobs begin when a user\s+who may write/)
    const approve = async (name: Name) =>
      await postForm(fixture, `${path}/approve`, {}, { cookie: await signIn(fixture, name) })
    t.match(await approve('bob'), { status: 403 })
    t.match(await engine.statuses(runs[0]?.number ?? 0), { build: 'blocked' })
    t.match(await approve('ada'), { status: 303 })
    const site = await registerClient({ port, db })
    const polled = new AbortController()
    const refused = site.fetchTask(polled.signal)
    const approved = await runner.fetchTask()
    t.match(approved.context, { event_name: 'pull_request', sha: head, secret_source: 'None' })
    const names = Object.keys(approved.secrets).sort()
    t.strictSame(names, ['FORGEJO_TOKEN', 'GITEA_TOKEN', 'GITHUB_TOKEN'], 'a fork gets no secrets')
    polled.abort()
    t.equal(await refused, undefined, 'a runner of the site takes no jobs of forks')
    const second = await commit('bob', 'bob', 'work', 'two')
    await engine.run(6)
    const later = await runsOf('pull_request')
    t.match(
      later.map(({ status, commitId, needsApproval }) => ({ status, commitId, needsApproval })),
      [
        { status: 'running', commitId: head, needsApproval: false },
        { status: 'cancelled', commitId: head },
        { status: 'blocked', commitId: second, needsApproval: true },
        { status: 'blocked', commitId: second, needsApproval: true },
      ],
      'an approval is about one commit',
    )
    t.equal(number, 1)
  },
)

await gateways.onOneDatabase(
  'authors with a merged pull request are trusted',
  async (t, gateway) => {
    const fixture = await openFixture(gateway)
    const { as, bob, commit, openPull, engine, runsOf, db } = fixture
    await engine.commit(`on: pull_request\n${JOBS}`)
    await fixture.fork()
    await commit('bob', 'bob', 'first', 'one')
    const { number } = await openPull('bob', 'bob:first')
    await engine.run(1)
    const merged = await as('ada', 'POST', `/repos/ada/engine/pulls/${number}/merge`, {
      Do: 'merge',
    })
    t.equal(merged.status, 200)
    await commit('bob', 'bob', 'second', 'two')
    await openPull('bob', 'bob:second')
    await engine.run(2)
    await db('owners')
      .where({ id: bob.id })
      .update({ created_at: Date.now() - 2 * 86_400_000 })
    await commit('bob', 'bob', 'third', 'three')
    await openPull('bob', 'bob:third')
    await engine.run(3)
    const asked = (await runsOf('pull_request')).map(({ needsApproval }) => needsApproval)
    t.strictSame(asked, [true, true, false], 'a new account is not trusted')
  },
)

await gateways.onOneDatabase('reviews start runs at the head', async (t, gateway) => {
  const fixture = await openFixture(gateway)
  const { as, commit, openPull, engine, ada, db } = fixture
  await engine.commit(`on: [pull_request_review, pull_request_review_comment]\n${JOBS}`)
  await fixture.fork()
  const head = await commit('bob', 'bob', 'work', 'one [skip ci]')
  const { number } = await openPull('bob', 'bob:work', 'Add one')
  const path = `/repos/ada/engine/pulls/${number}/reviews`
  const review = async (body: object) => {
    const { status, text } = await as('ada', 'POST', path, body)
    t.equal(status, 200, text)
  }
  await review({ event: 'APPROVED', body: 'Good.' })
  await review({ body: 'A draft starts nothing.' })
  await review({ event: 'COMMENT', body: 'Hm.' })
  await engine.commit(`on: { pull_request_review: { types: [dismissed] } }\n${JOBS}`)
  const runs = await engine.plannedRuns()
  const events = runs.map(({ event }) => event)
  t.strictSame(events, [
    'pull_request_review',
    'pull_request_review',
    'pull_request_review_comment',
  ])
  for (const run of runs) {
    t.match(run, { commitId: head, reference: `refs/pull/${number}/head`, actorId: ada.id })
    t.match(run, { title: 'Add one', pull: { number, head: 'work', base: 'main' } })
    t.match(run, { isFromFork: true, needsApproval: true }, 'the author is not trusted')
  }
  const [first, , last] = await Promise.all(
    runs.map(async ({ id }) => JSON.parse(await findRunPayload(db, id))),
  )
  t.match(first, {
    action: 'reviewed',
    number,
    pull_request: { title: 'Add one', head: { sha: head } },
    review: { type: 'pull_request_review_approved', state: 'approved', content: 'Good.' },
    sender: { login: 'ada' },
  })
  t.match(last, { review: { state: 'commented', content: 'Hm.' } })
})

await gateways.onSqlite(
  'a run of a fork starts a workflow of the default branch, without approval',
  async (t, gateway) => {
    const fixture = await openFixture(gateway)
    const { commit, openPull, engine, bob } = fixture
    const on = 'on: { workflow_run: { workflows: [ci], branches: [work] } }'
    await engine.commit(`${on}\n${JOBS}`, 'after.yaml')
    const main = await engine.commit(`on: pull_request\n${JOBS}`)
    await fixture.fork()
    const head = await commit('bob', 'bob', 'work', 'one')
    await openPull('bob', 'bob:work')
    t.match(await engine.plannedRuns(), [
      { event: 'pull_request', commitId: head, isFromFork: true, needsApproval: true },
      {
        event: 'workflow_run',
        commitId: main,
        isFromFork: false,
        needsApproval: false,
        actorId: bob.id,
      },
    ])
  },
)

await gateways.onSqlite('types select the changes of a pull request', async (t, gateway) => {
  const { as, commit, openPull, engine, db } = await openFixture(gateway)
  const types = `assigned, unassigned, labeled, unlabeled, milestoned, demilestoned, edited, closed,
    review_requested`
  await engine.commit(`on: { pull_request: { types: [${types}] } }\n${JOBS}`)
  await commit('ada', 'ada', 'work', 'one')
  const { number } = await openPull('ada', 'work')
  const repository = '/repos/ada/engine'
  const send = async (method: string, path: string, body?: object) => {
    const { status, json, text } = await as('ada', method, `${repository}${path}`, body)
    t.ok(status < 300, text)
    return json as { id: number }
  }
  const label = (await send('POST', '/labels', { name: 'bug', color: '#ff0000' })).id
  const milestone = (await send('POST', '/milestones', { title: 'one' })).id
  await send('PATCH', `/issues/${number}`, { assignees: ['ada'], milestone })
  await send('PATCH', `/issues/${number}`, { assignees: [], milestone: 0 })
  await send('POST', `/issues/${number}/labels`, { labels: [label] })
  await send('DELETE', `/issues/${number}/labels`)
  await send('POST', `/pulls/${number}/requested_reviewers`, { reviewers: ['bob'] })
  await send('PATCH', `/pulls/${number}`, { title: 'Other' })
  await send('PATCH', `/pulls/${number}`, { state: 'closed' })
  const runs = await engine.plannedRuns()
  const actions = await Promise.all(
    runs.map(async ({ id }) => JSON.parse(await findRunPayload(db, id)).action),
  )
  t.strictSame(actions, [
    'milestoned',
    'assigned',
    'demilestoned',
    'unassigned',
    'label_updated',
    'label_cleared',
    'review_requested',
    'edited',
    'closed',
  ])
})

await gateways.onSqlite(
  'an event without a user starts runs, which need approval for a fork',
  async (t, gateway) => {
    const fixture = await openFixture(gateway)
    const { commit, openPull, engine, runsOf, db } = fixture
    await engine.commit(`on: pull_request\n${JOBS}`)
    await fixture.fork()
    const after = await commit('bob', 'bob', 'work', 'one')
    const { number: pullNumber } = await openPull('bob', 'bob:work')
    await engine.run(1)
    const id = await addRunEvent(db, {
      event: 'pull_request',
      action: 'synchronized',
      causeKey: 'x',
      before: undefined,
      repositoryId: engine.repository.id,
      pullNumber,
      reference: `refs/pull/${pullNumber}/head`,
      after,
      actorId: undefined,
    })
    await planEvent(await gateway.openContext(), id ?? 0)
    t.match((await runsOf('pull_request')).slice(1), [{ needsApproval: true, commitId: after }])
  },
)
