/** Webhook payloads and event names. */

import t from 'tap'
import type { WebhookEvent } from '../../../gateway/webhooks/deliveries.js'
import {
  commentEvent,
  issueEvent,
  packagePayload,
  pullEvent,
  releaseEvent,
  statusEvent,
} from '../../../gateway/webhooks/payloads.js'
import { aWebhook, listDeliveredPayloads } from '../../helpers/deliveries.js'
import { openContext } from '../../helpers/gateway.js'
import { startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import { aRepository } from '../../helpers/rows.js'

const { context, fixture } = await openContext(t)
const sender = await fixture.addUser('ada')
const bob = await fixture.addUser('bob')
const created = await aRepository(fixture.db, sender.id, 'library')
// The repository has no folder, so its rendering must not read it.
const scene = { repository: { ...created, isEmpty: false }, sender }

async function fieldsOf({ payload }: WebhookEvent) {
  return JSON.parse(JSON.stringify(await payload()))
}

const WHERE = {
  repository: { full_name: 'ada/library' },
  sender: { login: 'ada', username: 'ada' },
}

t.test("payloads of issues and comments have the fields of Gitea's", async (t) => {
  const issue = { number: 3, title: 'new' }
  const changes = { title: { from: 'old' } }
  const event = 'issue_label'
  const labelled = issueEvent(context, { ...scene, event, action: 'label_updated', issue, changes })
  t.equal(labelled.event, 'issue_label')
  t.match(await fieldsOf(labelled), {
    action: 'label_updated',
    number: 3,
    changes,
    issue,
    commit_id: '',
    ...WHERE,
  })
  const input = { ...scene, action: 'created', issue, comment: { id: 5, body: 'hello' } } as const
  const comment = commentEvent(context, input)
  t.equal(comment.event, 'issue_comment')
  t.match(await fieldsOf(comment), { action: 'created', comment: { id: 5 }, is_pull: false })
  const onPull = commentEvent(context, { ...input, pull: { number: 3 } })
  t.equal(onPull.event, 'pull_request_comment')
  t.match(await fieldsOf(onPull), { pull_request: { number: 3 }, is_pull: true })
})

t.test("payloads of pull requests and reviews have the fields of Gitea's", async (t) => {
  const input = { ...scene, pull: { number: 4 } }
  const opened = pullEvent(context, { ...input, event: 'pull_request', action: 'opened' })
  const plain = { requested_reviewer: null, review: null, commit_id: '' }
  t.match(await fieldsOf(opened), {
    action: 'opened',
    number: 4,
    pull_request: { number: 4 },
    ...plain,
    ...WHERE,
  })
  const reviewed = pullEvent(context, {
    ...input,
    event: 'pull_request_review_approved',
    action: 'reviewed',
    review: { type: 'approved', state: 'approved', content: 'good' },
    requestedReviewer: bob,
    commitId: 'abc',
  })
  t.match(await fieldsOf(reviewed), {
    review: { type: 'approved', state: 'approved', content: 'good' },
    requested_reviewer: { login: 'bob' },
    commit_id: 'abc',
  })
})

t.test("payloads of releases, statuses and packages have the fields of Gitea's", async (t) => {
  const release = releaseEvent(context, { ...scene, action: 'published', release: { id: 1 } })
  t.match(await fieldsOf(release), { action: 'published', release: { id: 1 }, ...WHERE })
  const status = {
    id: 1,
    context: 'ci',
    status: 'success',
    description: 'good',
    target_url: 'http://ci.example.org/',
    created_at: 'a',
    updated_at: 'b',
  }
  t.match(await fieldsOf(statusEvent(context, { ...scene, sha: 'abc', status })), {
    sha: 'abc',
    state: 'success',
    context: 'ci',
    target_url: status.target_url,
    ...WHERE,
  })
  const input = { action: 'created', owner: sender, sender, repository: undefined } as const
  t.match(await packagePayload(context, { ...input, object: { name: 'tool' } }), {
    action: 'created',
    package: { name: 'tool' },
    repository: null,
    organization: null,
  })
})

t.test('webhooks of the owner receive the creation and the deletion of a repository', async (t) => {
  const { as, db, ada } = await startGatewayWithUsers(t)
  await aWebhook(db, { ownerId: ada.id }, { events: ['repository'] })
  await as('ada', 'POST', '/user/repos', { name: 'r', auto_init: true })
  t.equal((await as('ada', 'DELETE', '/repos/ada/r')).status, 204)
  t.match(await listDeliveredPayloads(db), [
    { payload: { action: 'created', organization: { login: 'ada' }, sender: { login: 'ada' } } },
    { payload: { action: 'deleted', repository: { full_name: 'ada/r' } } },
  ])
})
