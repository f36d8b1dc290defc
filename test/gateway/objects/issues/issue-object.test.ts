/** Issue objects: deleted and hidden users, and fields of pull requests. */

import t from 'tap'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import {
  foundIssueObjects,
  issueObject,
  issueObjects,
} from '../../../../gateway/objects/issues/issue-object.js'
import { deleteUser } from '../../../../sql/accounts/users.js'
import { createIssue, findIssue } from '../../../../sql/issues/issues.js'
import { deleteRepository } from '../../../../sql/repositories/repositories.js'
import { openContext } from '../../../helpers/gateway.js'

t.test(
  'a deleted or hidden user is Ghost, and a list needs as many queries as one issue',
  async (t) => {
    const { context, fixture } = await openContext(t)
    const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
    const repository = await makeRepository(context, {
      owner: ada,
      creator: ada,
      name: 'r',
      description: '',
      isPrivate: false,
      isTemplate: false,
      defaultBranch: 'main',
      objectFormat: 'sha1',
      hasReadme: false,
    })
    const fields = { repositoryId: repository.id, isPull: false, content: '', authorId: bob.id }
    const issue = await createIssue(fixture.db, { ...fields, title: 'x', assigneeIds: [bob.id] })
    const seen = { repository, user: undefined }
    t.match(await issueObject(context, seen, issue), {
      user: { login: 'bob' },
      assignee: { login: 'bob' },
      pull_request: null,
      milestone: null,
    })
    await fixture.db('owners').where({ id: bob.id }).update({ visibility: 'private' })
    const hidden = await issueObject(context, seen, issue)
    t.match(hidden, { user: { id: -1, login: 'Ghost' }, assignees: [{ login: 'Ghost' }] })
    t.match(await issueObject(context, { repository, user: bob }, issue), {
      user: { login: 'bob' },
    })
    await deleteUser(fixture.db, bob.id)
    const left = await findIssue(fixture.db, repository.id, 1)
    if (left === undefined) throw new Error('it is still there')
    t.match(await issueObject(context, seen, left), { user: { login: 'Ghost' }, assignees: null })

    const many = [left]
    for (let n = 0; n < 30; n += 1) {
      many.push(await createIssue(fixture.db, { ...fields, authorId: ada.id, title: `${n}` }))
    }
    let questions = 0
    const context_ = {
      ...context,
      db: new Proxy(context.db, {
        get: (db, key) => {
          if (key === 'client') questions += 1
          return Reflect.get(db, key)
        },
      }),
    }
    await issueObjects(context_, seen, many)
    t.ok(questions > 0 && questions < 20, `${questions} queries`)
    await deleteRepository(fixture.db, repository.id)
    t.strictSame(await foundIssueObjects(context, many, ada), [], 'deleted in the meantime')
  },
)
