/** Badges of workflows: the newest run that counts, caching, hostile names and access. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import type { NewRun } from '../../../../sql/runs/runs.js'
import { forEachDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aRun } from '../../../helpers/run-rows.js'
import { signIn } from '../../../helpers/web-forms.js'

const PATH = '/ada/r/actions/workflows/build.yaml/badge.svg'

async function openFixture(t: Test, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location && { location })
  const { as, ask, db } = gateway
  const made = await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const { id } = made.json as { id: number }
  async function addRun(status: string, fields: Partial<NewRun> = {}) {
    const run = await aRun(db, id, fields)
    await db('workflow_runs').where({ id: run.id }).update({ status })
    return run
  }
  const titleOf = async (query = '', path = PATH) =>
    /<title>(.*)<\/title>/.exec((await ask({ path: path + query })).text)?.[1]
  return { ...gateway, addRun, titleOf }
}

await forEachDatabase(
  t,
  'a badge has the status of the newest run of its file on the branch',
  async (t, location) => {
    const { addRun, titleOf, db } = await openFixture(t, location)
    t.equal(await titleOf(), 'build: no status')
    await addRun('failure', { event: 'schedule' })
    const { id } = await addRun('success')
    t.equal(await titleOf(), 'Build: success')
    t.equal(await titleOf('?event=schedule'), 'Build: failure')
    t.equal(await titleOf('?event=release'), 'build: no status')
    await addRun('failure', { workflowFile: 'other.yaml' })
    await addRun('running', { reference: 'refs/heads/work/a' })
    const pull = { number: 1, head: 'x', base: 'main' }
    await addRun('failure', { event: 'pull_request_target', pull })
    t.equal(await titleOf(), 'Build: success')
    t.equal(await titleOf('?branch=main&event='), 'Build: success')
    t.equal(await titleOf('?branch=work%2Fa'), 'Build: running')
    await db('workflow_runs').where({ id }).update({ number: 100 })
    await addRun('failure', { workflowFile: 'other.yaml' })
    await db('workflow_runs').where({ workflow_file: 'other.yaml' }).increment('number', 998)
    t.equal(await titleOf(), 'Build: success', 'the run is the last of the newest 1,000')
    await db('workflow_runs').where({ workflow_file: 'other.yaml' }).increment('number', 1)
    t.equal(await titleOf(), 'build: no status')
  },
)

t.test('a badge that the client has is not sent again', async (t) => {
  const { addRun, ask } = await openFixture(t)
  await addRun('success')
  const first = await ask({ path: PATH })
  t.match(first.headers, {
    'content-type': 'image/svg+xml; charset=utf-8',
    'cache-control': 'private, no-cache',
    'content-security-policy': "default-src 'none'; sandbox",
  })
  const headers = { 'if-none-match': String(first.headers['etag']) }
  t.match(await ask({ path: PATH, headers }), { status: 304, text: '' })
  await addRun('failure')
  t.match(await ask({ path: PATH, headers }), { status: 200, text: /failure/ })
})

t.test(
  'hostile names are escaped, and characters that XML does not allow are replaced',
  async (t) => {
    const { addRun, titleOf, ask } = await openFixture(t)
    await addRun('success', { workflowName: `</title><script>alert("1")</script>\u0001\u202e` })
    const text = '&#60;/title&#62;&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;\ufffd\ufffd'
    t.equal(await titleOf(), `${text}: success`)
    t.notMatch((await ask({ path: PATH })).text, /<script/)
    const file = encodeURIComponent('"><script>.yaml')
    const path = `/ada/r/actions/workflows/${file}/badge.svg`
    t.equal(await titleOf('', path), '&#34;&#62;&#60;script&#62;: no status')
    const long = `/ada/r/actions/workflows/${'x'.repeat(200)}/badge.svg`
    t.equal(await titleOf('', long), `${'x'.repeat(59)}…: no status`)
  },
)

t.test('a badge is served to users who can read the repository, if it has Actions', async (t) => {
  const gateway = await openFixture(t)
  const { as, ask, addRun } = gateway
  await addRun('success')
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  const missing = await ask({ path: '/ada/none/actions/workflows/build.yaml/badge.svg' })
  const seen = async (headers = {}) => {
    const { status, text } = await ask({ path: PATH, headers })
    return { status, text }
  }
  const refused = { status: 404, text: missing.text }
  t.strictSame(await seen(), refused)
  t.strictSame(await seen({ cookie: await signIn(gateway, 'bob') }), refused)
  const own = { cookie: await signIn(gateway, 'ada') }
  t.match(await seen(own), { status: 200, text: /Build: success/ })
  await as('ada', 'PATCH', '/repos/ada/r', { private: false, has_actions: false })
  t.strictSame(await seen(), refused)
})
