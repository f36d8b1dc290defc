/** Pages of branches and of tags. */

import type { JSX } from 'preact/jsx-runtime'
import { pageOfReferences } from '../../../cgi/refs/known-references.js'
import type { Reference } from '../../../cgi/refs/list-references.js'
import { offsetOf } from '../../../sql/database/page.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { findVisibleParent } from '../../actions/pulls/find-head.js'
import { placePath } from '../../rendering/place-path.js'
import { Shown } from '../../rendering/visible-text.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import type { AnyRoute } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
import { comparisonUrl, repositoryUrl } from '../kit/links.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RepositoryDocument } from '../repositories/repository-document.js'

const LISTED = 50

const REF_PREFIXES = { branches: 'refs/heads', tags: 'refs/tags' } as const

function referencesPage(kind: keyof typeof REF_PREFIXES): AnyRoute {
  return definePage<'repository'>({
    method: 'GET',
    path: `/{owner}/{repo}/${kind}`,
    access: { kind: 'repository', mode: 'read' },
    async handle(context, { request, grant }) {
      const page = { page: pageNumber(request), limit: LISTED }
      const part = { offset: offsetOf(page), limit: LISTED, signal: request.signal }
      const input = { ...part, namespaces: [REF_PREFIXES[kind]], order: 'newest' } as const
      const { entries, total } = await inQueue(context, { request, grant }, () =>
        pageOfReferences(context.git, repositoryPathOf(context, grant.repository), input),
      )
      const address = repositoryUrl(context, grant)
      const parent = await findVisibleParent(context, grant)
      const title = kind === 'branches' ? 'Branches' : 'Tags'
      return htmlReply(
        request,
        <RepositoryDocument context={context} grant={grant} title={title} tab={kind}>
          <h2>{title}</h2>
          <References
            address={address}
            references={entries}
            compareAddress={(branch) => comparisonUrl(context, grant, { parent, branch })}
          />
          <Pager address={`${address}/${kind}`} page={page} total={total} />
        </RepositoryDocument>,
      )
    },
  })
}

interface ReferencesProps {
  readonly address: string
  readonly references: readonly Reference[]
  /** Returns the URL that compares a branch with the default branch; undefined for the latter. */
  readonly compareAddress: (branch: string) => string | undefined
}

function References({ address, references, compareAddress }: ReferencesProps): JSX.Element {
  if (references.length === 0) return <p class="empty">There are none yet.</p>
  return (
    <ul class="list">
      {references.map(({ name }) => {
        const isTag = name.startsWith('refs/tags/')
        const short = name.replace(/^refs\/(?:heads|tags)\//, '')
        const comparison = isTag ? undefined : compareAddress(short)
        const place = placePath({ kind: isTag ? 'tag' : 'branch', name: short, path: [] })
        return (
          <li>
            <Icon name={isTag ? 'tag' : 'git-branch'} />
            <a class="strong grow" href={`${address}/src/${place}`}>
              <Shown text={short} />
            </a>
            <a href={`${address}/commits/${place}`} aria-label={`History of ${short}`}>
              History
            </a>
            {comparison !== undefined && (
              <a href={comparison} aria-label={`Compare ${short}`}>
                Compare
              </a>
            )}
            {isTag && (
              <a href={`${address}/archive/${encodeURIComponent(short)}.tar.gz`} download={true}>
                tar.gz
              </a>
            )}
          </li>
        )
      })}
    </ul>
  )
}

export const REFERENCES_PAGES = [referencesPage('branches'), referencesPage('tags')]
