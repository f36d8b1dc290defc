/** Update time of changed issues. */

import t from 'tap'
import { commentChanged, issueChanged } from '../../../../gateway/actions/issues/issue-changed.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { createComment } from '../../../../sql/issues/comments.js'
import { createIssue, findIssue } from '../../../../sql/issues/issues.js'
import { openContext } from '../../../helpers/gateway.js'

t.test(
  'a change of an issue or its comments updates its time, unless the issue is deleted',
  async (t) => {
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
    const updates: boolean[] = []
    for (const change of [
      () => issueChanged(context, { ...of, actions: ['edited'] }),
      () => issueChanged(context, { ...of, actions: [] }),
      () => issueChanged(context, { ...of, actions: ['deleted'] }),
      () => commentChanged(context, { ...of, action: 'deleted', comment }),
    ]) {
      await fixture.db('issues').update({ updated_at: 1 })
      await change()
      const { updatedAtMs = 1 } = (await findIssue(fixture.db, repository.id, 1)) ?? {}
      updates.push(updatedAtMs > 1)
    }
    t.strictSame(updates, [true, false, false, true])
  },
)
