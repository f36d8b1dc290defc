/** Artifacts over the API: lists, downloads, deletion and access. */

import t from 'tap'
import { pathOf, startGatewayWithJob } from '../../../helpers/artifact-calls.js'
import { refusal, visible } from '../../../helpers/gateway-with-users.js'
import { withToken } from '../../../helpers/requests.js'

const PATH = '/repos/ada/engine/actions'
const NO_SUCH = refusal('not found')

t.test('artifacts are listed by name, run and page, and downloaded', async (t) => {
  const { as, ask, begin, otherRun, store, task } = await startGatewayWithJob(t)
  const first = await store('build', 'zip of the first')
  await store('docs', 'docs')
  const other = await otherRun()
  const second = await other.store('build', 'zip of the second')
  await begin('incomplete')
  const idsOf = async (path: string) => {
    const { json } = await as('ada', 'GET', `${PATH}${path}`)
    const { artifacts, total_count } = json as { artifacts: { id: number }[]; total_count: number }
    return [...artifacts.map(({ id }) => id), `of ${total_count}`]
  }
  const run = String(task.context?.['run_id'])
  t.strictSame(await idsOf('/artifacts?name=build'), [second, first, 'of 2'])
  t.strictSame(await idsOf('/artifacts?name=Build'), ['of 0'])
  t.strictSame(await idsOf('/artifacts?limit=1&page=3'), [first, 'of 3'])
  t.strictSame(await idsOf(`/runs/${run}/artifacts?name=build`), [first, 'of 1'])
  t.equal((await idsOf(`/runs/${run}/artifacts`)).at(-1), 'of 2')
  const { json } = await as('ada', 'GET', `${PATH}/artifacts/${first}`)
  t.match(json, {
    id: first,
    name: 'build',
    size_in_bytes: 16,
    url: new RegExp(`/api/v1${PATH}/artifacts/${first}$`),
    archive_download_url: new RegExp(`/artifacts/${first}/zip$`),
    expired: false,
    from_fork: false,
    workflow_run: { id: Number(run), event: 'push' },
  })
  const redirect = await as('ada', 'GET', `${PATH}/artifacts/${first}/zip`)
  t.match(redirect, { status: 302, headers: { 'cache-control': 'no-store' } })
  const download = await ask({ path: pathOf(redirect.headers.location ?? '') })
  t.match(download, { status: 200, text: 'zip of the first' })
  t.equal((await as('ada', 'DELETE', `${PATH}/artifacts/${first}`)).status, 204)
  t.equal((await as('ada', 'GET', `${PATH}/artifacts/${first}`)).status, 404)
  t.equal((await ask({ path: pathOf(redirect.headers.location ?? '') })).status, 404)
})

t.test('artifacts of a private repository look missing to other users', async (t) => {
  const { as, store, begin, db } = await startGatewayWithJob(t)
  const id = await store('build', 'zip')
  for (const path of ['', `/${id}`, `/${id}/zip`]) {
    for (const name of ['bob', 'anyone'] as const) {
      const answer = await as(name, 'GET', `${PATH}/artifacts${path}`)
      t.match(answer, { status: 404, json: NO_SUCH })
      const missing = await as(name, 'GET', `/repos/ada/none/actions/artifacts${path}`)
      t.strictSame(visible(answer), visible(missing), `${name} ${path}`)
    }
  }
  await as('ada', 'POST', '/user/repos', { name: 'open' })
  await as('ada', 'PATCH', '/repos/ada/open', { has_actions: true })
  t.equal((await as('bob', 'GET', `/repos/ada/open/actions/artifacts/${id}/zip`)).status, 404)
  await begin('incomplete')
  const row = await db('workflow_artifacts').where({ name: 'incomplete' }).first('id')
  for (const path of [`/${row.id}`, `/${row.id}/zip`, '/0', '/x']) {
    t.equal((await as('ada', 'GET', `${PATH}/artifacts${path}`)).status, 404, path)
  }
  await as('ada', 'PATCH', '/repos/ada/engine', { has_actions: false })
  t.equal((await as('ada', 'GET', `${PATH}/artifacts`)).status, 404)
})

t.test(
  'a job reads artifacts of its repository, and deletes none without permission',
  async (t) => {
    const { as, ask, store, task } = await startGatewayWithJob(t, { isPrivate: false })
    const id = await store('build', 'zip')
    const path = `/api/v1${PATH}/artifacts/${id}`
    const authorization = withToken(task.secrets['GITHUB_TOKEN'] ?? '')
    t.equal((await ask({ path: `${path}/zip`, authorization })).status, 302)
    const refused = await ask({ path, authorization, method: 'DELETE' })
    t.match(refused, { status: 403, text: /'actions: write'/ })
    t.equal((await as('anyone', 'GET', `${PATH}/artifacts/${id}/zip`)).status, 302, 'it is public')
    t.equal((await as('bob', 'DELETE', `${PATH}/artifacts/${id}`)).status, 403)
    t.equal((await as('anyone', 'DELETE', `${PATH}/artifacts/${id}`)).status, 401)
  },
)
