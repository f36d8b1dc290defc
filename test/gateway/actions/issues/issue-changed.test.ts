/** Update time of changed issues. */

import t from 'tap'
import { issueChanged } from '../../../../gateway/actions/issues/issue-changed.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { createComment } from '../../../../sql/issues/comments.js'
import { createIssue, findIssue } from '../../../../sql/issues/issues.js'
import { openContext } from '../../../helpers/gateway.js'
import {
  type GatewayWithUsers,
  startGatewayWithUsers,
} from '../../../helpers/gateway-with-users.js'

t.test('a change is seen in the time of the issue', async (t) => {
  const { context, fixture } = await openContext(t)
  const actor = await fixture.addUser('ada')
  const repository = await makeRepository(context, {
    owner: actor,
    creator: actor,
    name: 'r',
    description: '',
    isPrivate: false,
    isTemplate: false,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    hasReadme: false,
  })
  const issue = await createIssue(fixture.db, {
    repositoryId: repository.id,
    isPull: false,
    title: 'x',
    content: '',
    authorId: actor.id,
  })
  const comment = await createComment(fixture.db, {
    issueId: issue.id,
    authorId: actor.id,
    content: 'c',
  })
  const of = { repository, issue, actor }
  for (const [change, isSeen] of [
    [{ ...of, actions: ['edited'] as const }, true] as const,
    [{ ...of, actions: [] }, false] as const,
    [{ ...of, actions: ['deleted'] as const }, false] as const,
    [{ ...of, action: 'deleted' as const, comment }, true] as const,
  ]) {
    await fixture.db('issues').update({ updated_at: 1 })
    await issueChanged(context, change)
    const { updatedAtMs = 1 } = (await findIssue(fixture.db, repository.id, 1)) ?? {}
    t.equal(updatedAtMs > 1, isSeen, JSON.stringify(Object.values(change).at(-1)))
  }
})

/** What has been written down for receivers since the last time, as `event action`. */
async function told(gateway: GatewayWithUsers) {
  const rows: { event: string; payload: string }[] = await gateway
    .db('webhook_deliveries')
    .orderBy('id')
    .select('event', 'payload')
  await gateway.db('webhook_deliveries').delete()
  return rows.map(({ event, payload }) => ({ event, payload: JSON.parse(payload) }))
}

async function listen(gateway: GatewayWithUsers) {
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

t.test('receivers are told what becomes of an issue', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const here = await listen(gateway)
  const named = async () =>
    (await told(gateway)).map(({ event, payload }) => `${event} ${payload.action}`)
  await here('POST', '/issues', { title: 'Old', assignees: ['ada'] })
  t.strictSame(await named(), ['issues opened'])
  await here('PATCH', '/issues/1', { title: 'New' })
  const [edited] = await told(gateway)
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
  const comments = await told(gateway)
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

t.test('receivers are told what becomes of a pull request', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const here = await listen(gateway)
  const content = Buffer.from('more').toString('base64')
  await here('POST', '/contents/more', { content, new_branch: 'topic' })
  await here('POST', '/pulls', { title: 'More', head: 'topic', base: 'main' })
  const [opened] = await told(gateway)
  t.match(opened, {
    event: 'pull_request',
    payload: { action: 'opened', number: 1, pull_request: { head: { ref: 'topic' } } },
  })
  await here('POST', '/issues/1/comments', { body: 'Good.' })
  const [comment] = await told(gateway)
  t.match(comment, {
    event: 'pull_request_comment',
    payload: { action: 'created', is_pull: true, pull_request: { number: 1 } },
  })
  await here('POST', '/pulls/1/merge', { Do: 'merge' })
  const [merged] = await told(gateway)
  t.match(merged, {
    event: 'pull_request',
    payload: { action: 'closed', pull_request: { merged: true, state: 'closed' } },
  })
})
