/** Reusable workflows, from the push to the outputs of their calls. */

import t from 'tap'
import { Result, type Task } from '../../../gateway/runner-protocol/messages.js'
import { parseYaml } from '../../../gateway/workflows/yaml-value.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const STEPS = `steps: [{ run: 'true' }]`

const gateways = sharedGateways(t)

async function start(gateway: SharedGateway) {
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port: gateway.port, db: gateway.db })
  const jobs = async () => {
    const rows = await engine.jobs(1)
    return rows.map(({ key, name, status }) => `${key}: ${name}: ${status}`)
  }
  const finish = async (outputs: Readonly<Record<string, string>> = {}) => {
    const task = await runner.fetchTask()
    await runner.report(task.id, Result.SUCCESS, outputs)
    return task
  }
  return { ...gateway, engine, runner, jobs, finish }
}

function payloadOf({ workflowPayload }: Task): unknown {
  return parseYaml(Buffer.from(workflowPayload ?? []).toString()).plain()
}

const CALLED = `
on:
  workflow_call:
    inputs:
      system: { type: string, required: true }
      fast: { type: boolean, default: true }
      count: { type: number, default: 2 }
    secrets: { KEY: { required: true } }
    outputs:
      digest: { value: "\${{ jobs.build.outputs.digest }} of \${{ inputs.system }}" }
jobs:
  build:
    name: Build \${{ inputs.system }}
    if: inputs.fast && github.event_name == 'push'
    runs-on: linux
    permissions: { contents: write, packages: write }
    ${STEPS}
  test:
    needs: build
    if: needs.build.outputs.digest == 'x1'
    runs-on: linux
    ${STEPS}
`

const CALLER = `
name: CI
on: push
jobs:
  first: { runs-on: linux, ${STEPS} }
  release:
    needs: first
    uses: ./.gitea/workflows/called.yaml
    permissions: { contents: read }
    with: { system: "\${{ needs.first.outputs.system }}" }
    secrets: { key: "\${{ secrets.RELEASE }}", FIXED: plain }
  last:
    needs: release
    if: needs.release.outputs.digest == 'x1 of debian'
    runs-on: linux
    ${STEPS}
`

await gateways.onOneDatabase('a job calls a workflow of its commit', async (t, gateway) => {
  const { as, engine, runner, jobs, finish } = await start(gateway)
  const secrets = '/repos/ada/engine/actions/secrets'
  for (const name of ['RELEASE', 'OTHER']) {
    await as('ada', 'PUT', `${secrets}/${name}`, { data: `value of ${name}` })
  }
  await engine.commit(CALLED, 'called.yaml')
  const sha = await engine.commit(CALLER)
  t.strictSame(await jobs(), [
    'first: first: waiting',
    'release: release: blocked',
    'last: last: blocked',
  ])
  await finish({ system: 'debian' })
  const build = await runner.fetchTask()
  t.strictSame(await jobs(), [
    'first: first: success',
    'release: release: running',
    'last: last: blocked',
    'release/0/build: release / Build debian: running',
    'release/0/test: release / test: blocked',
  ])
  t.match(build.context, {
    job: 'build',
    event_name: 'workflow_call',
    event: { inputs: { system: 'debian', fast: 'true', count: '2' }, ref: 'refs/heads/main' },
  })
  t.strictSame({ ...build.needs }, {})
  const { KEY, FIXED, RELEASE, OTHER } = build.secrets
  t.strictSame([KEY, FIXED, RELEASE, OTHER], ['value of RELEASE', 'plain', undefined, undefined])
  t.match(payloadOf(build), {
    on: { workflow_call: { inputs: { fast: { type: 'boolean' } } } },
    jobs: { build: { 'runs-on': ['linux'], name: 'Build debian' } },
  })
  const [, , , row] = await engine.jobs(1)
  t.match(row?.permissions, { contents: 'read', packages: 'none' }, 'at most those of the caller')
  await runner.report(build.id, Result.SUCCESS, { digest: 'x1' })
  const test = await runner.fetchTask()
  t.strictSame({ ...test.needs['build']?.outputs }, { digest: 'x1' })
  await runner.report(test.id, Result.SUCCESS)
  const last = await runner.fetchTask()
  t.strictSame({ ...last.needs['release']?.outputs }, { digest: 'x1 of debian' })
  t.match(last.context, { event_name: 'push' })
  t.equal(last.secrets['OTHER'], 'value of OTHER')
  await runner.report(last.id, Result.SUCCESS)
  t.match(await engine.endedRun(1), { status: 'success' })
  const { json } = await as('anyone', 'GET', `/repos/ada/engine/commits/${sha}/status`)
  const { statuses } = json as { statuses: { context: string }[] }
  t.strictSame(statuses.map(({ context }) => context).toSorted(), [
    'CI / first (push)',
    'CI / last (push)',
    'CI / release (push)',
    'CI / release / Build debian (push)',
    'CI / release / test (push)',
  ])
})

await gateways.onOneDatabase(
  'a matrix calls a workflow, which calls another',
  async (t, gateway) => {
    const { engine, jobs, finish } = await start(gateway)
    await engine.commit(
      `on: { workflow_call: { inputs: { n: { type: number } } } }
jobs:
  one: { runs-on: linux, ${STEPS} }
  two:
    needs: one
    runs-on: linux
    strategy: { matrix: { v: "\${{ fromJSON(needs.one.outputs.list) }}" } }
    ${STEPS}`,
      'inner.yaml',
    )
    await engine.commit(
      `on: { workflow_call: { inputs: { n: { type: number } } } }
jobs: { inner: { uses: ./.gitea/workflows/inner.yaml, with: { n: "\${{ inputs.n }}" } } }`,
      'outer.yaml',
    )
    await engine.commit(`on: push
jobs:
  all:
    strategy: { matrix: { n: [1, 2] } }
    uses: ./.gitea/workflows/outer.yaml
    with: { n: "\${{ matrix.n }}" }`)
    for (const n of ['1', '2']) {
      const task = await finish({ list: '[7]' })
      t.match(task.context, { job: 'one', event: { inputs: { n } } })
    }
    await finish()
    await finish()
    t.match(await engine.endedRun(1), { status: 'success' })
    t.strictSame(await jobs(), [
      'all: all: success',
      'all/0/inner: all (1) / inner: success',
      'all/1/inner: all (2) / inner: success',
      'all/0/inner/0/one: all (1) / inner / one: success',
      'all/0/inner/0/two: all (1) / inner / two: success',
      'all/1/inner/0/one: all (2) / inner / one: success',
      'all/1/inner/0/two: all (2) / inner / two: success',
      'all/0/inner/0/two/two: all (1) / inner / two (7): success',
      'all/1/inner/0/two/two: all (2) / inner / two (7): success',
    ])
  },
)

await gateways.onOneDatabase(
  'a call that cannot be made fails with the reason',
  async (t, gateway) => {
    const { as, db, engine } = await start(gateway)
    const { repository } = await addWorkflowRepository(
      { as, db },
      { name: 'private', isPrivate: true },
    )
    t.ok(repository.isPrivate)
    await engine.commit(CALLED, 'called.yaml')
    await engine.commit(
      'on: release\njobs: { a: { runs-on: linux, steps: [{ run: x }] } }',
      'plain.yml',
    )
    await engine.commit(
      `on: { workflow_call: }
jobs: { again: { uses: ./.gitea/workflows/circle.yaml } }`,
      'circle.yaml',
    )
    const cases: ReadonlyArray<readonly [fields: string, reason: RegExp]> = [
      ['uses: ./.gitea/workflows/none.yaml', /: the file does not exist there\.$/],
      ['uses: ./.gitea/workflows/plain.yml', /the workflow has no 'on: workflow_call'\.$/],
      ['uses: ./.gitea/workflows/called.yaml', /the secret 'KEY' is required\.$/],
      [
        'uses: ./.gitea/workflows/called.yaml\n    secrets: inherit',
        /the input 'system' is required\.$/,
      ],
      [
        'uses: ./.gitea/workflows/called.yaml\n    secrets: inherit\n    with: { fast: perhaps, system: x }',
        /the input 'fast' must be 'true' or 'false'\.$/,
      ],
      [
        'uses: ./.gitea/workflows/called.yaml\n    secrets: inherit\n    with: { other: x }',
        /has no input 'other'\.$/,
      ],
      ['uses: bob/none/.gitea/workflows/x.yaml@main', /the repository does not exist, or/],
      [
        'uses: ada/engine/.gitea/workflows/called.yaml@none',
        /branch, tag or commit does not exist/,
      ],
      ['uses: ./.gitea/workflows/circle.yaml', /^The job has become one job\.$/],
    ]
    const calls = cases.map(([fields], at) => `  c${at}:\n    ${fields}\n`)
    await engine.commit(`on: push\njobs:\n${calls.join('')}`)
    const number = 1
    t.match(await engine.endedRun(number), { status: 'failure' })
    const jobs = await engine.jobs(number)
    for (const [at, [fields, reason]] of cases.entries()) t.match(jobs[at]?.reason, reason, fields)
    t.match(jobs.at(-1)?.reason, /more than 9 calls are in each other\.$/)
  },
)

await gateways.onOneDatabase(
  'a job calls files of its owner, and those that everyone reads',
  async (t, gateway) => {
    const { as, db, engine, finish } = await start(gateway)
    const calledFile = `on: workflow_call\njobs: { a: { runs-on: linux, ${STEPS} } }`
    const shared = await addWorkflowRepository({ as, db }, { name: 'shared', isPrivate: true })
    const sha = await shared.commit(calledFile, 'called.yaml')
    const place = '/.gitea/workflows/called.yaml'
    await as('bob', 'POST', '/user/repos', { name: 'open', auto_init: true })
    await as('bob', 'POST', '/user/repos', { name: 'closed', auto_init: true, private: true })
    for (const name of ['open', 'closed']) {
      const content = Buffer.from(calledFile).toString('base64')
      const file = { content, message: 'Add the workflow' }
      await as('bob', 'POST', `/repos/bob/${name}/contents${place}`, file)
    }
    await engine.commit(`on: push
jobs:
  branch: { uses: ada/shared${place}@main }
  commit: { uses: ada/shared${place}@${sha} }
  open: { uses: bob/open${place}@refs/heads/main }
  closed: { uses: bob/closed${place}@main }`)
    for (const _ of ['branch', 'commit', 'open']) await finish()
    t.match(await engine.endedRun(1), { status: 'failure' })
    t.match(await engine.statuses(1), {
      'branch/0/a': 'success',
      'commit/0/a': 'success',
      'open/0/a': 'success',
      closed: 'failure',
    })
    const [, , , closed] = await engine.jobs(1)
    t.match(closed?.reason, /: the repository does not exist, or the caller must not read it\.$/)
  },
)

await gateways.onOneDatabase('a re-run plans deferred jobs and calls again', async (t, gateway) => {
  const { as, engine, runner, finish } = await start(gateway)
  const call = `on: { workflow_call: { outputs: { x: { value: "\${{ jobs.a.outputs.x }}" } } } }
jobs: { a: { runs-on: linux, ${STEPS} } }`
  await engine.commit(call, 'called.yaml')
  await engine.commit(`on: push
jobs:
  list: { runs-on: linux, ${STEPS} }
  test:
    needs: list
    runs-on: linux
    strategy: { matrix: { n: "\${{ fromJSON(needs.list.outputs.of) }}" } }
    ${STEPS}
  call: { needs: test, uses: ./.gitea/workflows/called.yaml }
  last: { needs: call, runs-on: linux, ${STEPS} }`)
  await finish({ of: '[1,2]' })
  const failed = await runner.fetchTask()
  await runner.report(failed.id, Result.FAILURE)
  t.match(await engine.endedRun(1), { status: 'failure', attempt: 1 })
  const { id } = await engine.run(1)
  const path = `/repos/ada/engine/actions/runs/${id}`
  t.equal((await as('ada', 'POST', `${path}/rerun-failed-jobs`)).status, 201)
  await finish()
  await finish()
  const called = await finish({ x: 'first' })
  t.match(called.context, { job: 'a', run_attempt: '2' })
  const last = await finish()
  t.strictSame({ ...last.needs['call']?.outputs }, { x: 'first' })
  t.match(await engine.endedRun(1), { status: 'success', attempt: 2 })
  const names = async () => (await engine.jobs(1)).map(({ name, attempt }) => `${name} ${attempt}`)
  const second = ['list 1', 'test 2', 'call 2', 'last 2', 'test (1) 2', 'test (2) 2', 'call / a 2']
  t.strictSame(await names(), second)
  const a = (await engine.jobs(1)).find(({ name }) => name === 'call / a')
  const { status, json } = await as('ada', 'POST', `${path}/jobs/${a?.id}/rerun`)
  t.equal(status, 201)
  t.match(json, { name: 'call', run_attempt: 3 })
  await finish({ x: 'second' })
  t.strictSame({ ...(await finish()).needs['call']?.outputs }, { x: 'second' })
  t.match(await engine.endedRun(1), { status: 'success', attempt: 3 })
  t.match(await names(), ['list 1', 'test 2', 'call 3', 'last 3', 'test (1) 2', 'test (2) 2'])
  const { json: before } = await as('ada', 'GET', `${path}/attempts/1/jobs`)
  t.match(before, { total_count: 6, jobs: [{ name: 'list' }, { name: 'test' }, {}, {}, {}, {}] })
})

await gateways.onOneDatabase(
  'a called job cannot wait for the group of its own run',
  async (t, gateway) => {
    const { engine } = await start(gateway)
    const group = 'concurrency: deploy-${{ github.ref_name }}'
    const job = `{ runs-on: linux, ${STEPS}, ${group.replace(': ', ': "')}" }`
    await engine.commit(`on: workflow_call\njobs: { a: ${job} }`, 'called.yaml')
    const call = 'jobs: { call: { uses: ./.gitea/workflows/called.yaml } }'
    await engine.commit(`on: push\n${group}\n${call}`)
    t.match(await engine.endedRun(1), { status: 'failure' })
    const [only, ...others] = await engine.jobs(1)
    t.match(only?.reason, /wait for its own run, which has the concurrency group 'deploy-main'\.$/)
    t.strictSame(others, [])
  },
)
