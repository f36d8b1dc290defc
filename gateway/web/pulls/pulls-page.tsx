/** Paginated list of a repository's pull requests. */

import { listPulls } from '../../../sql/pulls/pull-lists.js'
import { refuseWithoutPulls } from '../../actions/pulls/find-pull.js'
import { IssueList, readIssues } from '../issues/issue-list.js'
import { StateFilter, stateAsked } from '../issues/state-filter.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RepositoryDocument } from '../repositories/repository-document.js'

const LISTED = 30

export const PULLS_PAGE = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/pulls',
  access: { kind: 'repository', mode: 'read', unit: 'pulls' },
  async handle(context, { request, grant }) {
    refuseWithoutPulls(grant)
    const { repository } = grant
    const page = { page: pageNumber(request), limit: LISTED }
    const state = stateAsked(request)
    const filter = { page, state, order: 'newest', labelIds: [] } as const
    const { entries, total } = await listPulls(context.db, repository.id, filter)
    const shown = await readIssues(
      context,
      entries.map(({ issue }) => issue),
    )
    const own = repositoryUrl(context, grant)
    const address = `${own}/pulls`
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="pulls" title="Pull requests">
        <div class="title-line">
          <h2>Pull requests</h2>
          {!repository.isArchived && <a href={`${own}/compare`}>New pull request</a>}
        </div>
        <StateFilter address={address} state={state} />
        <IssueList context={context} grant={grant} shown={shown} />
        <Pager
          address={address}
          page={page}
          total={total}
          query={state === 'open' ? {} : { state }}
        />
      </RepositoryDocument>,
    )
  },
})
