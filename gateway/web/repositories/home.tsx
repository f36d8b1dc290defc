/** Home page: the repositories that the visitor can read. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import { hasUsers } from '../../../sql/admin/site.js'
import { listOfferedIds } from '../../../sql/repositories/pending-transfers.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import { searchRepositories } from '../../../sql/repositories/repository-lists.js'
import { viewerOf } from '../../auth/refusals.js'
import { isAtMachine } from '../../auth/set-up.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RepositoryList } from './repository-list.js'

const LISTED = 30

export const HOME = definePage<'anyone'>({
  method: 'GET',
  path: '/',
  access: { kind: 'anyone' },
  async handle(context, { request, grant: { who } }) {
    const user = who.kind === 'user' ? who.user : undefined
    const page = { page: pageNumber(request), limit: LISTED }
    const search = { viewer: viewerOf(who), sort: 'updated', order: 'desc' } as const
    const { entries, total } = await searchRepositories(context.db, search, page)
    const { basePath } = context.settings.http
    const offered = user === undefined ? [] : await offeredTo(context, user.id)
    const isNew = user === undefined && !(await hasUsers(context.db))
    return htmlReply(
      request,
      <Document context={context} title="Repositories" user={user}>
        {user === undefined && (
          <section class="lead">
            <h1>Gatehouse</h1>
            <p>Code hosting: Git over HTTPS and SSH, a REST API, and package registries.</p>
          </section>
        )}
        {isNew && <ToSetUp context={context} request={request} />}
        {offered.length > 0 && (
          <section>
            <h2>Offered to you</h2>
            <RepositoryList base={basePath} repositories={offered} hasOwners={true} />
          </section>
        )}
        <section>
          <h2>{user === undefined ? 'Public repositories' : 'Repositories'}</h2>
          <RepositoryList base={basePath} repositories={entries} hasOwners={true} />
          <Pager address={`${basePath}/`} page={page} total={total} />
        </section>
      </Document>,
    )
  },
})

/** Returns repositories whose transfer the user can accept. */
async function offeredTo({ db }: Context, userId: number): Promise<readonly Repository[]> {
  return await findRepositoriesById(db, await listOfferedIds(db, userId, LISTED))
}

interface ToSetUpProps {
  readonly context: Context
  readonly request: Request
}

function ToSetUp({ context: { settings }, request }: ToSetUpProps): JSX.Element {
  return (
    <p class="notice">
      There is no account yet.{' '}
      {isAtMachine(request, settings) ? (
        <a href={`${settings.http.basePath}/setup`}>Create the first account</a>
      ) : (
        'The server log contains the address of the page that creates the first account.'
      )}
    </p>
  )
}
