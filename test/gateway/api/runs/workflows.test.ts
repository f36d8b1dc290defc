/** Workflows over the API: names and states, and the effect of a switch on pushes. */

import t from 'tap'
import { listRuns } from '../../../../sql/runs/runs.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { addWorkflowRepository } from '../../../helpers/workflow-repository.js'

const WORKFLOWS = '/repos/ada/engine/actions/workflows'
const JOBS = 'jobs: { a: { runs-on: linux, steps: [{ run: ls }] } }'

await onOneDatabase(t, 'a disabled workflow starts no run', async (t, location) => {
  const gateway = await startGatewayWithUsers(t, { location })
  const { as, db } = gateway
  const engine = await addWorkflowRepository(gateway)
  const runs = async () => {
    const { entries } = await listRuns(db, engine.repository.id, { page: 1, limit: 10 })
    return entries.map(({ number, workflowFile }) => `${number} ${workflowFile}`)
  }
  await engine.commit(`name: Build\non: push\n${JOBS}`, 'a.yaml')
  await engine.run(1)
  t.equal((await as('ada', 'PUT', `${WORKFLOWS}/a.yaml/disable`)).status, 204)
  t.equal((await as('ada', 'PUT', `${WORKFLOWS}/a.yaml/disable`)).status, 204, 'again')
  await engine.commit(`on: push\n${JOBS}`, 'b.yml')
  await engine.run(2)
  t.strictSame(await runs(), ['2 b.yml', '1 a.yaml'])
  t.match((await as('ada', 'GET', WORKFLOWS)).json, {
    total_count: 2,
    workflows: [
      { id: 'a.yaml', name: 'Build', state: 'disabled_manually' },
      { id: 'b.yml', name: 'b', state: 'active' },
    ],
  })
  t.equal((await as('ada', 'PUT', `${WORKFLOWS}/a.yaml/enable`)).status, 204)
  await engine.commit(`on: push\n${JOBS} # changed`, 'b.yml')
  await engine.run(4)
  t.strictSame((await runs()).slice(0, 2).toSorted(), ['3 a.yaml', '4 b.yml'])
})

t.test('a workflow has its name, path and addresses, also if it cannot be read', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { as } = gateway
  const engine = await addWorkflowRepository(gateway)
  t.strictSame((await as('anyone', 'GET', WORKFLOWS)).json, { total_count: 0, workflows: [] })
  await engine.commit(`name: Nightly\non: schedule\n${JOBS}`, 'a%20b.yaml')
  await engine.commit('a: [', 'broken.yaml')
  const { json } = await as('anyone', 'GET', `${WORKFLOWS}/a%20b.yaml`)
  t.match(json, {
    id: 'a b.yaml',
    name: 'Nightly',
    path: '.gitea/workflows/a b.yaml',
    state: 'active',
    created_at: /^20\d\d-/,
    url: /\/api\/v1\/repos\/ada\/engine\/actions\/workflows\/a%20b\.yaml$/,
    html_url: /\/ada\/engine\/src\/branch\/main\/\.gitea\/workflows\/a%20b\.yaml$/,
    badge_url: /\/actions\/workflows\/a%20b\.yaml\/badge\.svg\?branch=main$/,
  })
  t.match((await as('anyone', 'GET', `${WORKFLOWS}/broken.yaml`)).json, { name: 'broken' })
})

t.test('workflows are switched by users who write, and only those that exist', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { as } = gateway
  const engine = await addWorkflowRepository(gateway)
  await engine.commit(`on: schedule\n${JOBS}`, 'a.yaml')
  for (const word of ['enable', 'disable']) {
    t.equal((await as('bob', 'PUT', `${WORKFLOWS}/a.yaml/${word}`)).status, 403)
    t.equal((await as('anyone', 'PUT', `${WORKFLOWS}/a.yaml/${word}`)).status, 401)
    t.equal((await as('ada', 'PUT', `${WORKFLOWS}/b.yaml/${word}`)).status, 404)
  }
  t.match((await as('bob', 'GET', `${WORKFLOWS}/a.yaml`)).json, { state: 'active' })
  t.equal((await as('bob', 'GET', `${WORKFLOWS}/b.yaml`)).status, 404)
  await as('ada', 'PATCH', '/repos/ada/engine', { has_actions: false })
  for (const [method, path] of [
    ['GET', WORKFLOWS],
    ['GET', `${WORKFLOWS}/a.yaml`],
    ['PUT', `${WORKFLOWS}/a.yaml/disable`],
  ] as const) {
    t.equal((await as('ada', method, path)).status, 404, `${method} ${path}`)
  }
})
