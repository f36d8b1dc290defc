/** Webhooks over the API, for each kind of owner, and test deliveries of a push. */

import t from 'tap'
import { onOneDatabase } from '../../../helpers/databases.js'
import { listDeliveredPayloads } from '../../../helpers/deliveries.js'
import { refusal, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'

const CONFIG = { url: 'https://hooks.example.org/', content_type: 'json' }
const HOOK = { type: 'gitea', config: { ...CONFIG, secret: 's' }, events: ['create', 'push'] }
const NO_SUCH = refusal('not found')

await onOneDatabase(t, 'webhooks are created, listed, changed and deleted', async (t, location) => {
  const { as, ada, addOrganization } = await startGatewayWithUsers(t, { location })
  await addOrganization('club', ada)
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  for (const path of ['/repos/ada/r/hooks', '/orgs/club/hooks', '/user/hooks']) {
    const made = await as('ada', 'POST', path, HOOK)
    t.equal(made.status, 201, path)
    const { id } = made.json as { id: number }
    t.match(made.json, { id, config: CONFIG, events: ['create', 'push'], active: false })
    t.notOk('secret' in (made.json as { config: object }).config)
    await as('ada', 'POST', path, HOOK)
    const listed = await as('ada', 'GET', `${path}?limit=1`)
    t.match(listed.json, [{ id }])
    t.equal(listed.headers['x-total-count'], '2')
    const patch = { config: { content_type: 'form' }, active: true }
    t.match((await as('ada', 'PATCH', `${path}/${id}`, patch)).json, {
      config: { ...CONFIG, content_type: 'form' },
      events: ['push'],
      active: true,
    })
    t.match((await as('ada', 'GET', `${path}/${id}`)).json, { id, active: true })
    t.match(await as('ada', 'POST', path, { ...HOOK, type: 'x' }), {
      status: 422,
      json: refusal('Invalid hook type: x'),
    })
    t.equal((await as('ada', 'POST', path, { type: 'gitea' })).status, 422)
    t.equal((await as('ada', 'POST', path, { ...HOOK, config: { url: 1 } })).status, 422)
    t.equal((await as('ada', 'DELETE', `${path}/${id}`)).status, 204)
    for (const gone of [`${path}/${id}`, `${path}/x`, `${path}/999999`]) {
      t.match(await as('ada', 'DELETE', gone), { status: 404, json: NO_SUCH }, gone)
      t.match(await as('ada', 'GET', gone), { status: 404, json: NO_SUCH }, gone)
      t.equal((await as('ada', 'PATCH', gone, {})).status, 404, gone)
    }
  }
})

t.test(
  'webhooks of one owner are not accessible through another, nor to other users',
  async (t) => {
    const { as, ada, addOrganization } = await startGatewayWithUsers(t)
    await addOrganization('club', ada, 'private')
    await as('ada', 'POST', '/user/repos', { name: 'r' })
    const { id } = (await as('ada', 'POST', '/repos/ada/r/hooks', HOOK)).json as { id: number }
    t.equal((await as('ada', 'GET', `/user/hooks/${id}`)).status, 404)
    t.equal((await as('ada', 'GET', `/orgs/club/hooks/${id}`)).status, 404)
    t.equal((await as('bob', 'GET', `/user/hooks/${id}`)).status, 404)
    t.equal((await as('bob', 'GET', '/repos/ada/r/hooks')).status, 403)
    t.match(await as('bob', 'GET', '/orgs/club/hooks'), { status: 404, json: NO_SUCH })
    t.match(await as('bob', 'GET', '/orgs/nobody/hooks'), { status: 404, json: NO_SUCH })
    t.equal((await as('root', 'GET', '/orgs/club/hooks')).status, 200)
  },
)

t.test('a test delivers the latest commit, also to a webhook without events', async (t) => {
  const { as, db } = await startGatewayWithUsers(t)
  await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  await as('ada', 'POST', '/user/repos', { name: 'empty' })
  const make = async (path: string) =>
    `${path}/${((await as('ada', 'POST', path, { ...HOOK, events: ['fork'] })).json as { id: number }).id}/tests`
  const path = await make('/repos/ada/r/hooks')
  t.equal((await as('ada', 'POST', path)).status, 204)
  const [told] = await listDeliveredPayloads(db)
  const payload: Readonly<Record<string, unknown>> = told?.payload ?? {}
  t.match(payload, {
    ref: 'refs/heads/main',
    total_commits: 1,
    commits: [{ added: ['README.md'] }],
    head_commit: { message: 'Initial commit\n' },
    pusher: { login: 'ada' },
  })
  t.equal(payload['before'], payload['after'])
  t.equal((await as('ada', 'POST', `${path}?ref=main`)).status, 204)
  t.equal((await as('ada', 'POST', `${path}?ref=nothing`)).status, 404)
  t.equal((await listDeliveredPayloads(db)).length, 2)
  t.equal((await as('ada', 'POST', await make('/repos/ada/empty/hooks'))).status, 204)
  t.equal(
    (await listDeliveredPayloads(db)).length,
    2,
    'an empty repository has no commit to deliver',
  )
})

await onOneDatabase(
  t,
  'administrators create system webhooks, and default webhooks that new repositories get',
  async (t, location) => {
    const { as, db } = await startGatewayWithUsers(t, { location })
    await as('ada', 'POST', '/user/repos', { name: 'before' })
    const path = '/admin/hooks'
    const make = async (isSystem?: string) => {
      const kind = isSystem === undefined ? {} : { is_system_webhook: isSystem }
      const config = { ...HOOK.config, ...kind }
      const body = { ...HOOK, config, events: ['repository'], active: true }
      return await as('root', 'POST', path, body)
    }
    const made = await make('true')
    t.match(made, { status: 201, json: { config: CONFIG, events: ['repository'], active: true } })
    const { id: systemId } = made.json as { id: number }
    const { id: defaultId } = (await make()).json as { id: number }
    t.match(await make('perhaps'), {
      status: 422,
      json: refusal('Invalid is_system_webhook value'),
    })
    const idsOf = async (query: string) =>
      ((await as('root', 'GET', `${path}${query}`)).json as { id: number }[]).map(({ id }) => id)
    t.strictSame(await idsOf(''), [systemId])
    t.strictSame(await idsOf('?type=default'), [defaultId])
    t.strictSame(await idsOf('?type=all'), [systemId, defaultId])
    const { link } = (await as('root', 'GET', `${path}?type=all&limit=1`)).headers
    t.match(String(link), '/api/v1/admin/hooks?type=all&limit=1&page=2')
    t.strictSame((await as('ada', 'GET', '/repos/ada/before/hooks')).json, [])
    await as('ada', 'POST', '/user/repos', { name: 'after' })
    const copies = (await as('ada', 'GET', '/repos/ada/after/hooks')).json as { id: number }[]
    t.match(copies, [{ config: CONFIG, events: ['repository'], active: true }])
    t.equal(copies.length, 1)
    const delivered = (await listDeliveredPayloads(db)).map(({ webhookId }) => webhookId)
    t.strictSame(delivered, [systemId, copies[0]?.id], 'the default webhook itself gets no event')
    const patch = { events: ['push'], config: { content_type: 'form' } }
    t.match((await as('root', 'PATCH', `${path}/${defaultId}`, patch)).json, {
      config: { content_type: 'form' },
    })
    t.match((await as('ada', 'GET', '/repos/ada/after/hooks')).json, [{ config: CONFIG }])
    t.match(await as('ada', 'GET', path), { status: 403 })
    t.match(await as('root', 'GET', `${path}/${copies[0]?.id}`), { status: 404, json: NO_SUCH })
    for (const id of [systemId, defaultId]) {
      t.equal((await as('root', 'GET', `${path}/${id}`)).status, 200)
      t.equal((await as('root', 'DELETE', `${path}/${id}`)).status, 204)
      t.equal((await as('root', 'DELETE', `${path}/${id}`)).status, 404)
    }
  },
)
