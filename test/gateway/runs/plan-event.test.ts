/** Runs that a push starts: what is planned, and what is reported about faulty files. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { planEvent } from '../../../gateway/runs/plan-event.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { addRunEvent, findRunEvent } from '../../../sql/runs/events.js'
import { listRuns } from '../../../sql/runs/runs.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { git } from '../../helpers/git-client.js'
import { registerClient } from '../../helpers/runner-client.js'
import { sharedGateways } from '../../helpers/shared-gateways.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const JOB = `runs-on: linux
    steps: [{ run: 'true' }]`

const FIRST_PAGE = { page: 1, limit: 50 }

const gateways = sharedGateways(t)

await gateways.onOneDatabase('jobs wait for what they need', async (t, gateway) => {
  const { db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const runner = await registerClient({ port, db })
  await engine.commit(`
on: push
jobs:
  build:
    ${JOB}
  test:
    needs: build
    ${JOB}
  publish:
    needs: [test]
    ${JOB}
  report:
    needs: [build, test]
    if: always() && needs.build.outputs.version == '7'
    ${JOB}
  never:
    if: github.ref == 'refs/heads/other' || github.actor != 'ada'
    ${JOB}
  faulty:
    if: "nothing.of == 'that'"
    ${JOB}
  message:
    if: contains(github.event.head_commit.message, 'Change') == false
    ${JOB}
`)
  const build = await runner.fetchTask()
  const waiting = { test: 'blocked', publish: 'blocked', report: 'blocked' }
  const decided = { never: 'skipped', faulty: 'failure', message: 'skipped' }
  t.strictSame(await engine.statuses(1), { build: 'running', ...waiting, ...decided })
  await runner.report(build.id, Result.SUCCESS, { version: '7' })
  const test = await runner.fetchTask()
  t.match(test.needs, { build: { result: Result.SUCCESS, outputs: { version: '7' } } })
  await runner.report(test.id, Result.FAILURE)
  t.match(await engine.statuses(1), { publish: 'skipped', report: 'waiting' })
  const report = await runner.fetchTask()
  t.match(report.needs, { test: { result: Result.FAILURE }, build: { result: Result.SUCCESS } })
  await runner.report(report.id, Result.SUCCESS)
  t.match(await engine.endedRun(1), { status: 'failure' })
  const faulty = (await engine.jobs(1)).find(({ key }) => key === 'faulty')
  t.match(faulty?.reason, /nothing/)
})

await gateways.onSqlite('a faulty file makes a failed run, once', async (t, gateway) => {
  const engine = await addWorkflowRepository(gateway)
  await engine.commit('on: push\njobs: [', 'broken.yaml')
  const run = await engine.run(1)
  t.match(run, { status: 'failure', workflowFile: 'broken.yaml' })
  t.match(run.fault, /^\.gitea\/workflows\/broken\.yaml:\d+:\d+: /)
  await engine.commit(`on: push\njobs:\n  build:\n    ${JOB}\n`, 'sound.yaml')
  t.match(await engine.run(2), { workflowFile: 'sound.yaml' })
  await engine.commit('on: push\njobs:\n  build: { uses: actions/checkout@v4 }\n')
  t.match((await engine.run(3)).fault, /jobs\.build\.uses must be/)
})

await gateways.onSqlite(
  'an event is planned once, also if it is published and planned again',
  async (t, gateway) => {
    const { ada, db } = gateway
    const engine = await addWorkflowRepository(gateway)
    const commit = await engine.commit(`on: push\njobs:\n  build:\n    ${JOB}\n`)
    await engine.run(1)
    const context = await gateway.openContext()
    const event = {
      event: 'push',
      action: '',
      pullNumber: undefined,
      causeKey: 'a push',
      repositoryId: engine.repository.id,
      reference: 'refs/heads/main',
      before: undefined,
      after: commit,
      actorId: ada.id,
    } as const
    const id = (await addRunEvent(db, event)) ?? 0
    t.equal(await addRunEvent(db, event), id)
    await planEvent(context, id)
    t.equal(await findRunEvent(db, id), undefined)
    const again = (await addRunEvent(db, event)) ?? 0
    await planEvent(context, again)
    const { entries } = await listRuns(db, engine.repository.id, FIRST_PAGE)
    t.strictSame(
      entries.map(({ number }) => number),
      [2, 1],
    )
  },
)

await gateways.onSqlite(
  'filters, messages and switches decide if a push starts a run',
  async (t, gateway) => {
    const { ada, as, addToken, db, port } = gateway
    const engine = await addWorkflowRepository(gateway)
    await engine.commit(`
on:
  push:
    branches: ['release/**']
    tags: [v*]
    paths: ['src/**']
jobs:
  build:
    ${JOB}
`)
    const { plain } = await addToken(ada, 'write:repository')
    const cwd = await temporaryFolder(t)
    const remote = `http://ada:${plain}@127.0.0.1:${port}/ada/engine.git`
    await git(['clone', remote, 'w'], { cwd })
    const work = { cwd: join(cwd, 'w') }
    const commit = async (file: string, message: string) => {
      await git(['switch', '-c', `release/${message.replace(/\W/g, '')}`], work)
      await mkdir(join(work.cwd, 'src'), { recursive: true })
      await writeFile(join(work.cwd, file), message)
      await git(['add', '.'], work)
      await git(['commit', '-m', message], work)
      await git(['push', 'origin', 'HEAD'], work)
    }
    await commit('readme', 'one')
    await commit('src/a', 'two [skip ci]')
    await commit('src/a', 'three')
    await engine.run(1)
    await git(['tag', '-a', '-m', 'First', 'v1'], work)
    await git(['tag', 'x1'], work)
    await git(['push', 'origin', 'v1', 'x1'], work)
    t.match(await engine.run(1), { reference: 'refs/heads/release/three', title: 'three' })
    const commitId = await git(['rev-parse', 'v1^{commit}'], work)
    t.match(await engine.run(2), { reference: 'refs/tags/v1', commitId }, 'the commit of the tag')
    await as('ada', 'PATCH', '/repos/ada/engine', { archived: true })
    await as('ada', 'PATCH', '/repos/ada/engine', { archived: false })
    const { total } = await listRuns(db, engine.repository.id, FIRST_PAGE)
    t.equal(total, 2)
  },
)

await gateways.onOneDatabase(
  'names of any length are cut to what a run shows',
  async (t, gateway) => {
    const engine = await addWorkflowRepository(gateway)
    const long = '\u{1f6a2}'.repeat(60_000)
    await engine.commit(`
name: ${long}
on: push
jobs:
  build:
    name: ${long}
    if: "'${'x'.repeat(20_000)}' == 'y'"
    ${JOB}
`)
    const run = await engine.run(1)
    t.equal([...run.workflowName].length, 255)
    const [job] = await engine.jobs(1)
    t.equal([...(job?.name ?? '')].length, 255)
    t.equal(job?.status, 'skipped')
    await engine.commit(`on: push\n? ${'k'.repeat(100_000)}\n: { a: *b }\njobs: {}\n`, 'other.yaml')
    t.ok((await engine.run(2)).fault.length <= 2_000)
  },
)

await gateways.onSqlite('an update of a mirror starts nothing', async (t, gateway) => {
  const { ada, db } = gateway
  const engine = await addWorkflowRepository(gateway)
  const commit = await engine.commit(`on: push\njobs:\n  build:\n    ${JOB}\n`)
  await engine.run(1)
  await engine.plannedRuns()
  const context = await gateway.openContext()
  const publish = async (source: Repository['source'], key: string) => {
    const repository = { ...engine.repository, preferences: { has_actions: true }, source }
    const changes = [{ name: 'refs/heads/main', before: '1'.repeat(40), after: commit }]
    await context.events.publish({ kind: 'refs_changed', repository, pusher: ada, changes, key })
    return (await db('workflow_events').select('id')).length
  }
  const url = 'https://example.com/x.git'
  t.equal(await publish({ url, mirror: { intervalMs: 1, syncedAtMs: 1 } }, 'one'), 0)
  t.equal(await publish({ url, mirror: undefined }, 'two'), 1, 'an import is no mirror')
})

t.test('events start no run while too many runs wait', async (t) => {
  const environment = { GATEHOUSE_ACTIONS_RUNS_WAITING_MAX: '2' }
  const gateway = await startGatewayWithUsers(t, { environment })
  const { ask, db, port } = gateway
  const engine = await addWorkflowRepository(gateway)
  const page = async () => (await ask({ path: '/ada/engine/actions' })).text
  const file = `on: push\njobs:\n  build:\n    ${JOB}\n`
  await engine.commit(file)
  t.notMatch(await page(), /runs wait/)
  await engine.commit(`${file}# 2`)
  await engine.run(2)
  await engine.commit(`${file}# 3`)
  t.equal((await engine.plannedRuns()).length, 2)
  t.match(await page(), /2 runs wait for runners\. Until one of them begins/)
  const runner = await registerClient({ port, db })
  await runner.fetchTask()
  t.notMatch(await page(), /runs wait/)
  const fourth = await engine.commit(`${file}# 4`)
  t.match(await engine.run(3), { commitId: fourth })
})
