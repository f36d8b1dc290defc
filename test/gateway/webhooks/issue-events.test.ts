/** Webhook events of changed issues, pull requests and comments. */

import t from 'tap'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'

/** Returns the deliveries since the last call, and deletes them. */
async function takeDeliveries(gateway: GatewayWithUsers) {
  const rows: { event: string; payload: string }[] = await gateway
    .db('webhook_deliveries')
    .orderBy('id')
    .select('event', 'payload')
  await gateway.db('webhook_deliveries').delete()
  return rows.map(({ event, payload }) => ({ event, payload: JSON.parse(payload) }))
}

async function subscribe(gateway: GatewayWithUsers) {
  const here = (method: string, path: string, body?: unknown) =>
    gateway.as('ada', method, `/repos/ada/work${path}`, body)
  await gateway.as('ada', 'POST', '/user/repos', { name: 'work', auto_init: true })
  const hook = await here('POST', '/hooks', {
    type: 'gitea',
    active: true,
    config: { url: 'http://x.example', content_type: 'json' },
    events: ['issues', 'issue_comment', 'pull_request', 'release', 'status'],
  })
  if (hook.status !== 201) throw new Error(`no hook: ${hook.text}`)
  return here
}

t.test('each change of an issue is delivered with its action', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const here = await subscribe(gateway)
  const named = async () =>
    (await takeDeliveries(gateway)).map(({ event, payload }) => `${event} ${payload.action}`)
  await here('POST', '/issues', { title: 'Old', assignees: ['ada'] })
  t.strictSame(await named(), ['issues opened'])
  await here('PATCH', '/issues/1', { title: 'New' })
  const [edited] = await takeDeliveries(gateway)
  t.match(edited, {
    event: 'issues',
    payload: {
      action: 'edited',
      number: 1,
      changes: { title: { from: 'Old' } },
      issue: { title: 'New' },
      sender: { login: 'ada' },
      repository: { name: 'work' },
    },
  })
  await here('PATCH', '/issues/1', { state: 'closed', assignees: [] })
  t.strictSame(await named(), ['issue_assign unassigned', 'issues closed'])
  await here('POST', '/issues/1/comments', { body: 'first' })
  const [{ id } = { id: 0 }] = (await here('GET', '/issues/1/comments')).json as { id: number }[]
  await here('PATCH', `/issues/comments/${id}`, { body: 'second' })
  const comments = await takeDeliveries(gateway)
  t.match(comments, [
    { event: 'issue_comment', payload: { action: 'created', is_pull: false } },
    {
      event: 'issue_comment',
      payload: { changes: { body: { from: 'first' } }, comment: { body: 'second' } },
    },
  ])
  await here('DELETE', `/issues/comments/${id}`)
  await here('DELETE', '/issues/1')
  t.strictSame(await named(), ['issue_comment deleted', 'issues deleted'])
})

t.test('each change of a pull request is delivered with its action', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const here = await subscribe(gateway)
  const content = Buffer.from('more').toString('base64')
  await here('POST', '/contents/more', { content, new_branch: 'topic' })
  await here('POST', '/pulls', { title: 'More', head: 'topic', base: 'main' })
  const [opened] = await takeDeliveries(gateway)
  t.match(opened, {
    event: 'pull_request',
    payload: { action: 'opened', number: 1, pull_request: { head: { ref: 'topic' } } },
  })
  await here('POST', '/issues/1/comments', { body: 'Good.' })
  const [comment] = await takeDeliveries(gateway)
  t.match(comment, {
    event: 'pull_request_comment',
    payload: { action: 'created', is_pull: true, pull_request: { number: 1 } },
  })
  await here('POST', '/pulls/1/merge', { Do: 'merge' })
  const [merged] = await takeDeliveries(gateway)
  t.match(merged, {
    event: 'pull_request',
    payload: { action: 'closed', pull_request: { merged: true, state: 'closed' } },
  })
})
