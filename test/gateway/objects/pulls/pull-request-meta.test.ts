/** Pull request fields of issues. */

import t from 'tap'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { pullRequestMetas } from '../../../../gateway/objects/pulls/pull-request-meta.js'
import { createIssue } from '../../../../sql/issues/issues.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'

t.test(
  'only pull requests have these fields, and a draft is recognized by its title',
  async (t) => {
    const { context, fixture } = await openContext(t)
    const ada = await fixture.addUser('ada')
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
    const open = (title: string, isPull: boolean) =>
      createIssue(fixture.db, {
        repositoryId: repository.id,
        isPull,
        title,
        content: '',
        authorId: ada.id,
      })
    const issues = [await open('WIP: x', false), await open('wip: x', true), await open('x', true)]
    const metas = await pullRequestMetas(context, issues, () => repository)
    const base = { merged: false, merged_at: null }
    t.strictSame(
      issues.map(({ id }) => metas.get(id)),
      [
        undefined,
        { ...base, draft: true, html_url: `${BASE_URL}/ada/r/pulls/2` },
        { ...base, draft: false, html_url: `${BASE_URL}/ada/r/pulls/3` },
      ],
    )
  },
)
