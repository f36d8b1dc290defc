/** Inputs of issues: read for callers with write permission, dropped for others. */

import t from 'tap'
import { assigneesOf, inputsOf } from '../../../../gateway/api/issues/issue-inputs.js'
import { openContext } from '../../../helpers/gateway.js'
import { withAccess } from '../../../helpers/repository-access.js'
import { aCollaborator, aRepository } from '../../../helpers/rows.js'

t.test('inputs of callers without write permission are dropped', async (t) => {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const root = await fixture.addUser('root', { isAdmin: true })
  const repository = await aRepository(fixture.db, ada.id, 'r')
  const who = { kind: 'anonymous' } as const
  const by = (mode: 'read' | 'write') => ({
    who,
    user: bob,
    repository,
    ...withAccess(mode, 'issues'),
  })
  const body = {
    assignee: 'ADA',
    assignees: ['ada', 'root'],
    milestone: 3,
    labels: [1, 2],
    due_date: '2030-01-02T03:04:05Z',
  }
  t.strictSame(await inputsOf(context, by('read'), { ...body, due_date: 'x' }), {})
  t.strictSame(await inputsOf(context, by('write'), body), {
    assigneeIds: [ada.id, root.id],
    milestoneId: 3,
    labelIds: [1, 2],
    dueAtMs: Date.UTC(2030, 0, 2, 23, 59, 59),
  })
  const none = { assigneeIds: [], milestoneId: undefined, labelIds: [], dueAtMs: undefined }
  t.strictSame(await inputsOf(context, by('write'), { milestone: 0 }), none)
  t.equal(await assigneesOf(context, by('write'), {}), undefined)
  t.strictSame(await assigneesOf(context, by('write'), { assignees: [] }), [])
  const refusal = { failure: 'invalid', message: 'Assignee does not exist: [name: bob]' }
  await t.rejects(assigneesOf(context, by('write'), { assignee: 'bob' }), refusal)
  await aCollaborator(fixture.db, repository, bob, 'read')
  await t.rejects(assigneesOf(context, by('write'), { assignees: ['ada', 'bob'] }), refusal)
  await fixture.db('collaborators').update({ mode: 'write' })
  t.strictSame(await assigneesOf(context, by('write'), { assignees: ['bob'] }), [bob.id])
})
