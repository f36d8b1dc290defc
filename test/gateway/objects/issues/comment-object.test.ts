/** Comment objects of issues and pull requests. */

import t from 'tap'
import { commentObject, commentObjects } from '../../../../gateway/objects/issues/comment-object.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'
import { aRepository } from '../../../helpers/rows.js'

t.test(
  'a comment has the address of its issue or pull request, and a deleted author is Ghost',
  async (t) => {
    const { context, fixture } = await openContext(t)
    const ada = await fixture.addUser('ada')
    const repository = await aRepository(fixture.db, ada.id, 'r')
    const fields = { issueId: 1, issueNumber: 2, content: 'c', createdAtMs: 0, updatedAtMs: 0 }
    const originalAuthor = { name: 'eve', id: 7 }
    const under = (isPull: boolean, authorId: number | undefined) => ({
      ...fields,
      originalAuthor,
      id: 3,
      repositoryId: 1,
      isPull,
      authorId,
    })
    const seen = { repository, user: undefined }
    const [issue, pull] = [`${BASE_URL}/ada/r/issues/2`, `${BASE_URL}/ada/r/pulls/2`]
    t.match(await commentObject(context, seen, under(false, ada.id)), {
      id: 3,
      body: 'c',
      user: { login: 'ada' },
      html_url: `${issue}#issuecomment-3`,
      issue_url: issue,
      pull_request_url: '',
      created_at: '1970-01-01T00:00:00Z',
      original_author: 'eve',
      original_author_id: 7,
    })
    t.match(await commentObject(context, seen, under(true, undefined)), {
      user: { id: -1, login: 'Ghost' },
      html_url: `${pull}#issuecomment-3`,
      issue_url: '',
      pull_request_url: pull,
    })
    t.strictSame(await commentObjects(context, seen, []), [])
  },
)
