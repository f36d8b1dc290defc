/** Webhook events of reviews, review requests and new commits of pull requests. */

import t from 'tap'
import { createWebhookSubscriber } from '../../../gateway/webhooks/subscriber.js'
import { findRepository } from '../../../sql/repositories/repositories.js'
import { openContext } from '../../helpers/gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { withToken } from '../../helpers/requests.js'

interface Delivery {
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Starts a gateway with the pull request 1 of ada's repository, whose head is in a fork of bob. */
async function startWithPull(t: Parameters<typeof startGatewayWithUsers>[0]) {
  const gateway = await startGatewayWithUsers(t)
  const { as } = gateway
  const carl = await gateway.addUser('carl')
  await as('ada', 'POST', '/user/repos', { name: 'work', auto_init: true })
  await as('bob', 'POST', '/repos/ada/work/forks', {})
  await commit(gateway, 'first')
  await as('ada', 'POST', '/repos/ada/work/hooks', {
    type: 'gitea',
    active: true,
    config: { url: 'http://x.example', content_type: 'json' },
    events: ['pull_request'],
  })
  const opened = { title: 'More', head: 'bob:main', base: 'main', reviewers: ['carl'] }
  t.equal((await as('bob', 'POST', '/repos/ada/work/pulls', opened)).status, 201)
  const authorization = withToken((await gateway.addToken(carl, 'all')).plain)
  return {
    ...gateway,
    /** Sends a request of carl, who can read the repository. */
    asCarl: (method: string, path: string, body: unknown) =>
      gateway.ask({ method, path: `/api/v1${path}`, body, authorization }),
    /** Returns the deliveries since the last call. */
    async delivered(): Promise<readonly Delivery[]> {
      const rows: { event: string; payload: string }[] = await gateway
        .db('webhook_deliveries')
        .orderBy('id')
        .select('event', 'payload')
      await gateway.db('webhook_deliveries').delete()
      return rows.map(({ event, payload }) => ({ event, payload: JSON.parse(payload) }))
    },
  }
}

async function commit({ as }: Pick<GatewayWithUsers, 'as'>, name: string): Promise<void> {
  const content = Buffer.from(name).toString('base64')
  await as('bob', 'POST', `/repos/bob/work/contents/${name}`, { content })
}

t.test('requested reviews are delivered, and those that are withdrawn', async (t) => {
  const { as, asCarl, delivered } = await startWithPull(t)
  const event = 'pull_request_review_request'
  t.match(await delivered(), [
    { event: 'pull_request', payload: { action: 'opened' } },
    { event, payload: { action: 'review_requested', requested_reviewer: { login: 'carl' } } },
  ])
  const path = '/repos/ada/work/pulls/1/requested_reviewers'
  t.equal((await as('bob', 'POST', path, { reviewers: ['ada', 'carl'] })).status, 201)
  const [requested, ...others] = await delivered()
  t.match(requested?.payload['requested_reviewer'], { login: 'ada' })
  t.strictSame(others, [])
  // Reviewers withdraw from their own review only.
  t.equal((await asCarl('DELETE', path, { reviewers: ['carl', 'ada'] })).status, 403)
  t.equal((await asCarl('DELETE', path, { reviewers: ['carl'] })).status, 204)
  t.match(await delivered(), [
    {
      event,
      payload: {
        action: 'review_request_removed',
        number: 1,
        requested_reviewer: { login: 'carl' },
        sender: { login: 'carl' },
      },
    },
  ])
  t.equal((await as('ada', 'DELETE', path, { reviewers: ['carl'] })).status, 204)
  t.strictSame(await delivered(), [])
})

t.test('each submitted review is delivered with its type and text', async (t) => {
  const { as, delivered } = await startWithPull(t)
  await delivered()
  for (const [event, name, type] of [
    ['APPROVED', 'approved', 'pull_request_review_approved'],
    ['REQUEST_CHANGES', 'rejected', 'pull_request_review_rejected'],
    ['COMMENT', 'comment', 'pull_request_review_comment'],
  ]) {
    const review = { event, body: `It is ${name}.` }
    t.equal((await as('ada', 'POST', '/repos/ada/work/pulls/1/reviews', review)).status, 200)
    t.match(await delivered(), [
      {
        event: type,
        payload: {
          action: 'reviewed',
          number: 1,
          pull_request: { head: { ref: 'main' } },
          review: { type, content: `It is ${name}.` },
          sender: { login: 'ada' },
        },
      },
    ])
  }
  const pending = { body: 'Not yet.', comments: [{ path: 'first', body: 'x', new_position: 1 }] }
  await as('ada', 'POST', '/repos/ada/work/pulls/1/reviews', pending)
  t.strictSame(await delivered(), [])
})

t.test('new commits of the head are delivered to the repository of the pull request', async (t) => {
  const gateway = await startWithPull(t)
  const { as, delivered } = gateway
  await delivered()
  await commit(gateway, 'second')
  const { json } = await as('bob', 'GET', '/repos/bob/work/branches/main')
  const { id: sha } = (json as { commit: { id: string } }).commit
  t.match(await delivered(), [
    {
      event: 'pull_request_sync',
      payload: {
        action: 'synchronized',
        number: 1,
        commit_id: sha,
        pull_request: { head: { sha, repo: { full_name: 'bob/work' } } },
        repository: { full_name: 'ada/work' },
        sender: { login: 'bob' },
      },
    },
  ])
  const { context } = await openContext(t, { location: gateway.settings.database.location })
  const { isInterested } = createWebhookSubscriber(context)
  const fork = await findRepository(gateway.db, 'bob', 'work')
  if (fork === undefined) throw new Error('There is no fork.')
  // Pushes to the fork are recorded, although it has no webhook.
  t.equal(await isInterested?.({ kind: 'refs_changed', repository: fork }), true)
  await as('ada', 'PATCH', '/repos/ada/work/pulls/1', { state: 'closed' })
  t.equal(await isInterested?.({ kind: 'refs_changed', repository: fork }), false)
  await delivered()
  await commit(gateway, 'third')
  t.strictSame(await delivered(), [])
})
