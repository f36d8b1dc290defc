/** Paginated list of a repository's issues. */

import { notFound } from '../../../conf/failures.js'
import { listIssues } from '../../../sql/issues/issue-lists.js'
import { listPinned } from '../../../sql/issues/pins.js'
import { isServed } from '../../actions/issues/issue-access.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { IssueList, readIssues } from './issue-list.js'
import { StateFilter, stateAsked } from './state-filter.js'

const LISTED = 30

export const ISSUES_PAGE = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/issues',
  access: { kind: 'repository', mode: 'read', unit: 'issues' },
  async handle(context, { request, grant }) {
    const { repository } = grant
    if (!isServed(repository, { isPull: false })) throw notFound()
    const page = { page: pageNumber(request), limit: LISTED }
    const state = stateAsked(request)
    const filter = { isPull: false, state, page }
    const { entries, total } = await listIssues(context.db, repository.id, filter)
    const shown = await readIssues(context, entries)
    const pinned = await listPinned(context.db, { repositoryId: repository.id, isPull: false })
    const shownPinned = await readIssues(context, pinned)
    const address = `${repositoryUrl(context, grant)}/issues`
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="issues" title="Issues">
        <div class="title-line">
          <h2>Issues</h2>
          {!repository.isArchived && <a href={`${address}/new`}>New issue</a>}
        </div>
        {pinned.length > 0 && page.page === 1 && (
          <section>
            <h3>Pinned</h3>
            <IssueList context={context} grant={grant} shown={shownPinned} />
          </section>
        )}
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
