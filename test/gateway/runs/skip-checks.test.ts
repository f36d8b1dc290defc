/** Required checks whose workflows are excluded by the filters of their triggers. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Result } from '../../../gateway/runner-protocol/messages.js'
import { registerClient } from '../../helpers/runner-client.js'
import { type SharedGateway, sharedGateways } from '../../helpers/shared-gateways.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

const PATH = '/repos/ada/engine'

const JOBS = `
jobs:
  build:
    runs-on: linux
    strategy: { matrix: { system: [a, b] } }
    steps: [{ run: 'true' }]
  lint: { runs-on: linux, steps: [{ run: 'true' }] }
`

const SOURCES = `name: CI\non: { pull_request: { paths: ['src/**'] } }${JOBS}`

const REQUIRED = ['CI / build (*) (pull_request)']

const gateways = sharedGateways(t)

async function openFixture(t: Test, gateway: SharedGateway, required = REQUIRED) {
  const { as } = gateway
  const engine = await addWorkflowRepository(gateway)
  const rule = {
    rule_name: 'main',
    enable_push: true,
    enable_status_check: true,
    status_check_contexts: required,
  }
  t.equal((await as('ada', 'POST', `${PATH}/branch_protections`, rule)).status, 201)
  /** Adds a file to a branch, which is made from the default branch if it is new. */
  async function commit(branch: string, file: string, message = file) {
    const isNew = (await as('ada', 'GET', `${PATH}/branches/${branch}`)).status === 404
    const names = isNew ? { branch: 'main', new_branch: branch } : { branch }
    const body = { content: 'eA==', message, ...names }
    const { json, text } = await as('ada', 'POST', `${PATH}/contents/${file}`, body)
    if (json === undefined) throw new Error(text)
    return (json as { commit: { sha: string } }).commit.sha
  }
  async function openPull(branch: string) {
    const pull = { title: branch, head: branch, base: 'main' }
    const { json } = await as('ada', 'POST', `${PATH}/pulls`, pull)
    return `${PATH}/pulls/${(json as { number: number }).number}`
  }
  /** Returns the newest states of the contexts of a commit, when no event waits to be planned. */
  async function statesOf(commitId: string) {
    await engine.plannedRuns()
    const { json } = await as('ada', 'GET', `${PATH}/commits/${commitId}/status`)
    const { statuses } = json as { statuses: readonly { context: string; status: string }[] }
    return Object.fromEntries(statuses.map(({ context, status }) => [context, status]))
  }
  const merge = async (pull: string, options = {}) =>
    (await as('ada', 'POST', `${pull}/merge`, { Do: 'merge', ...options })).status
  return { ...gateway, engine, commit, openPull, statesOf, merge }
}

await gateways.onOneDatabase(
  'a pull request merges if the paths of a required workflow exclude it',
  async (t, gateway) => {
    const { engine, commit, openPull, statesOf, merge, db, port } = await openFixture(t, gateway)
    await engine.commit(SOURCES)
    const docs = await commit('docs', 'docs/a')
    const pull = await openPull('docs')
    t.strictSame(
      await statesOf(docs),
      { 'CI / build (a) (pull_request)': 'skipped', 'CI / build (b) (pull_request)': 'skipped' },
      'only jobs that the rule requires have a status',
    )
    t.strictSame(await engine.plannedRuns(), [])
    const source = await commit('docs', 'src/a')
    await statesOf(source)
    t.equal(await merge(pull), 405, 'a newer commit within the paths has to be checked')
    const runner = await registerClient({ port, db })
    for (const _ of [1, 2, 3]) {
      await runner.report((await runner.fetchTask()).id, Result.SUCCESS)
    }
    t.equal(await merge(pull), 200)
    const other = await commit('other', 'docs/b')
    const second = await openPull('other')
    t.equal(Object.keys(await statesOf(other)).length, 2)
    t.equal(await merge(second), 200)
  },
)

await gateways.onOneDatabase(
  'a scheduled merge is done when the required check is skipped',
  async (t, gateway) => {
    const required = ['CI / lint (pull_request)']
    const { engine, commit, openPull, as, merge } = await openFixture(t, gateway, required)
    await engine.commit(SOURCES.replace('paths', 'types: [labeled], paths'))
    await commit('docs', 'docs/a')
    const pull = await openPull('docs')
    t.equal(await merge(pull, { merge_when_checks_succeed: true }), 201)
    const label = await as('ada', 'POST', `${PATH}/labels`, { name: 'text', color: '#00aabb' })
    const labels = { labels: [(label.json as { id: number }).id] }
    await as('ada', 'POST', `${pull.replace('pulls', 'issues')}/labels`, labels)
    const isMerged = async () => (await as('ada', 'GET', `${pull}/merge`)).status === 204
    for (let tries = 0; tries < 200 && !(await isMerged()); tries += 1) await sleep(50)
    t.ok(await isMerged())
  },
)

await gateways.onOneDatabase(
  'a status of a required context is not replaced by that of an excluded workflow',
  async (t, gateway) => {
    const { engine, commit, openPull, statesOf, as } = await openFixture(t, gateway)
    // The names of the files decide their order: excluded ones are before and after the other.
    await engine.commit(SOURCES, 'a.yaml')
    await engine.commit(SOURCES.replace('paths', 'paths-ignore'), 'b.yaml')
    await engine.commit(SOURCES, 'c.yaml')
    const docs = await commit('docs', 'docs/a')
    await openPull('docs')
    const [one, other] = ['CI / build (a) (pull_request)', 'CI / build (b) (pull_request)']
    t.match(await statesOf(docs), { [one]: 'pending', [other]: 'pending' }, 'a run has started')
    await engine.commit(SOURCES, 'b.yaml')
    const failed = await commit('failed', 'docs/b')
    const reported = { context: one, state: 'failure' }
    await as('ada', 'POST', `${PATH}/statuses/${failed}`, reported)
    await openPull('failed')
    t.strictSame(await statesOf(failed), { [one]: 'failure', [other]: 'skipped' })
  },
)

await gateways.onOneDatabase(
  'nothing is skipped without a required context, and by [skip ci]',
  async (t, gateway) => {
    const { engine, commit, openPull, statesOf, merge } = await openFixture(t, gateway)
    await engine.commit(SOURCES.replace('paths', 'types: [closed], paths'))
    const untyped = await commit('untyped', 'docs/a')
    await openPull('untyped')
    t.strictSame(await statesOf(untyped), {}, 'the type of the event does not fit')
    await engine.commit(SOURCES)
    const quiet = await commit('quiet', 'docs/b', 'Text [skip ci]')
    const pull = await openPull('quiet')
    t.strictSame(await statesOf(quiet), {}, 'the message asks for no run')
    t.equal(await merge(pull), 405)
  },
)

await gateways.onOneDatabase(
  'a push to a branch whose rule requires an excluded workflow has a skipped status',
  async (t, gateway) => {
    const required = ['CI / * (push)']
    const { engine, commit, statesOf } = await openFixture(t, gateway, required)
    const first = await engine.commit(`name: CI\non: { push: { paths: ['src/**'] } }${JOBS}`)
    const all = {
      'CI / build (a) (push)': 'skipped',
      'CI / build (b) (push)': 'skipped',
      'CI / lint (push)': 'skipped',
    }
    t.strictSame(await statesOf(first), all)
    t.strictSame(await statesOf(await commit('work', 'docs/a')), {}, 'the branch has no rule')
  },
)

await gateways.onOneDatabase(
  'a fork of an author who is not trusted passes no required check by its own filters',
  async (t, gateway) => {
    const { as, engine, statesOf } = await openFixture(t, gateway)
    await engine.commit(SOURCES)
    t.equal((await as('bob', 'POST', `${PATH}/forks`, {})).status, 202)
    const file = { content: 'eA==', message: 'a', branch: 'main', new_branch: 'docs' }
    const { json } = await as('bob', 'POST', '/repos/bob/engine/contents/docs/a', file)
    const pull = { title: 'docs', head: 'bob:docs', base: 'main' }
    t.equal((await as('bob', 'POST', `${PATH}/pulls`, pull)).status, 201)
    t.strictSame(await statesOf((json as { commit: { sha: string } }).commit.sha), {})
  },
)
