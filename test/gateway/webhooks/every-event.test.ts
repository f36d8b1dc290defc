/** Each event to which a webhook can subscribe is sent by an action of a user. */

import t, { type Test } from 'tap'
import { HOOK_EVENTS, type HookEvent, wordOf } from '../../../conf/hook-events.js'
import { HOOK_SERVICES, type HookService } from '../../../conf/hook-services.js'
import type { EventPayload } from '../../../gateway/webhooks/event-message.js'
import { servicePayload } from '../../../gateway/webhooks/service-payloads.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { addWorkflowRepository } from '../../helpers/workflow-repository.js'

/** Fields that each service requires of a message, with a pattern of their value. */
const REQUIRED: Readonly<Record<HookService, object>> = {
  dingtalk: { msgtype: 'actionCard', actionCard: { title: /\w/, text: /\w/, singleURL: /^ding/ } },
  discord: { embeds: [{ title: /^.{1,256}$/, url: /^http:/, author: { name: /^(ada|bob)$/ } }] },
  feishu: { msg_type: 'text', content: { text: /\w/ } },
  matrix: {
    msgtype: 'm.notice',
    format: 'org.matrix.custom.html',
    formatted_body: /<a href="http/,
  },
  msteams: { '@type': 'MessageCard', summary: /\w/, potentialAction: [{ '@type': 'OpenUri' }] },
  packagist: { repository: { url: /^http:.*\/ada\/\w+$/ } },
  slack: { channel: '#ops', text: /<http[^|>]*\|[^>]+>/ },
  telegram: { text: /<a href="http/, parse_mode: 'HTML' },
  wechatwork: { msgtype: 'markdown', markdown: { content: /\]\(http/ } },
}

/** Events whose message may have no link in its title, because its package has no repository. */
const PLAIN: readonly HookEvent[] = ['package']

function checkMessage(t: Test, service: HookService, event: HookEvent, payload: EventPayload) {
  const message = servicePayload(service, { channel: '#ops' }, { event, payload })
  if (service === 'packagist' && event !== 'push') return t.equal(message, undefined)
  const name = `${service} ${event} ${payload.action ?? ''}`
  t.notMatch(JSON.stringify(message), /undefined|\[object|NaN/, name)
  if (PLAIN.includes(event)) return t.ok(message)
  return t.match(message, REQUIRED[service], name)
}

t.test('a webhook of all events gets each of them, in the format of each service', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { as, ask, authorizationOf, db } = gateway
  const hook = {
    type: 'gitea',
    active: true,
    config: { url: 'http://x.example', content_type: 'json' },
    events: HOOK_EVENTS.map(wordOf),
  }
  t.equal((await as('ada', 'POST', '/user/hooks', hook)).status, 201)
  /** Events of the requests so far. */
  const events = new Set<string>()
  /** Sends requests of a user, and fails unless exactly these events are new. */
  const causes = async (
    wanted: readonly string[],
    requests: ReadonlyArray<readonly [method: string, path: string, body?: unknown]>,
    name: 'ada' | 'bob' = 'ada',
  ) => {
    for (const [method, path, body] of requests) {
      const answer = await as(name, method, path, body)
      t.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    }
    const rows: { event: HookEvent; payload: string }[] = await db('webhook_deliveries')
      .orderBy('id')
      .select('event', 'payload')
    for (const { event, payload } of rows) {
      for (const service of HOOK_SERVICES) checkMessage(t, service, event, JSON.parse(payload))
    }
    await db('webhook_deliveries').delete()
    const sent = new Set(rows.map(({ event }) => event))
    t.strictSame([...sent].sort(), [...wanted].sort())
    for (const event of sent) events.add(event)
  }
  const repo = '/repos/ada/work'
  const content = Buffer.from('x').toString('base64')
  await causes(['repository'], [['POST', '/user/repos', { name: 'work', auto_init: true }]])
  await causes(['fork'], [['POST', `${repo}/forks`, {}]], 'bob')
  await causes(
    ['create', 'push'],
    [['POST', `${repo}/contents/a`, { content, new_branch: 'topic' }]],
  )
  await causes([], [['POST', `${repo}/labels`, { name: 'bug', color: '#ff0000' }]])
  await causes([], [['POST', `${repo}/milestones`, { title: 'v1' }]])
  const change = { assignees: ['ada'], milestone: 1 }
  for (const [prefix, paths] of [
    ['issue', [[`${repo}/issues`, { title: 'One' }]]],
    ['pull_request', [[`${repo}/pulls`, { title: 'Two', head: 'topic', base: 'main' }]]],
  ] as const) {
    const number = prefix === 'issue' ? 1 : 2
    const opened = prefix === 'issue' ? 'issues' : 'pull_request'
    await causes(
      [opened],
      paths.map(([path, body]) => ['POST', path, body] as const),
    )
    const at = `${repo}/issues/${number}`
    await causes([`${prefix}_assign`, `${prefix}_milestone`], [['PATCH', at, change]])
    await causes([`${prefix}_label`], [['POST', `${at}/labels`, { labels: [1] }]])
    await causes([`${prefix}_comment`], [['POST', `${at}/comments`, { body: 'Hm' }]])
  }
  const reviewers = { reviewers: ['bob'] }
  await causes(
    ['pull_request_review_request'],
    [['POST', `${repo}/pulls/2/requested_reviewers`, reviewers]],
  )
  for (const [event, suffix] of [
    ['APPROVED', 'approved'],
    ['REQUEST_CHANGES', 'rejected'],
    ['COMMENT', 'comment'],
  ] as const) {
    const review = [['POST', `${repo}/pulls/2/reviews`, { event, body: 'Hm' }]] as const
    await causes([`pull_request_review_${suffix}`], review, 'bob')
  }
  await causes(
    ['push', 'pull_request_sync'],
    [['POST', `${repo}/contents/b`, { content, branch: 'topic' }]],
  )
  const status = { state: 'success', context: 'ci' }
  await causes(['status'], [['POST', `${repo}/statuses/main`, status]])
  await causes(['wiki'], [['POST', `${repo}/wiki/new`, { title: 'Home' }]])
  await causes(['create', 'push', 'release'], [['POST', `${repo}/releases`, { tag_name: 'v1' }]])
  await causes(['pull_request'], [['PATCH', `${repo}/pulls/2`, { state: 'closed' }]])
  await causes(['delete'], [['DELETE', `${repo}/branches/topic`]])

  const path = '/api/packages/ada/generic/tool/1.0/tool.txt'
  const upload = { method: 'PUT', path, body: Buffer.from('x') }
  t.equal((await ask({ ...upload, authorization: authorizationOf('ada') })).status, 201)
  await causes(['package'], [])

  const engine = await addWorkflowRepository(gateway)
  await engine.commit("on: push\njobs:\n  a: { runs-on: linux, steps: [{ run: 'true' }] }\n")
  await engine.run(1)
  await causes(['repository', 'push', 'status', 'workflow_run', 'workflow_job'], [])
  t.strictSame([...events].sort(), [...HOOK_EVENTS].sort())
})
