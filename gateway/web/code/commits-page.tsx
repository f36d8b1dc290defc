/** Paginated history of a revision or of a path in it. */

import type { JSX } from 'preact/jsx-runtime'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import { pageOfHistory } from '../../../cgi/objects/history.js'
import { offsetOf } from '../../../sql/database/page.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { readCommits, readGit } from '../../actions/code/git-reader.js'
import type { Verification } from '../../actions/code/verify-signatures.js'
import { placePath } from '../../rendering/place-path.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { Ago } from '../kit/times.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { firstLineOf } from './folder.js'
import { PathLine } from './path-line.js'
import { defaultPlace, findPlace } from './place.js'
import { VerifiedBadge, verifyCommits } from './verified-badge.js'

const LISTED = 30
const ACCESS = { kind: 'repository', mode: 'read' } as const

function answer(context: Context, { request, grant, params }: Call<'repository'>) {
  return readGit(context, grant, async (reader) => {
    const text = params['place']
    const place =
      text === undefined ? await defaultPlace(reader, grant) : await findPlace(reader, text)
    const page = { page: pageNumber(request), limit: LISTED }
    const file = place.path.join('/')
    const { commits, total } = await inQueue(context, { request, grant }, async () => {
      const from = place.revision.commitId
      const input = { from, ...(file === '' ? {} : { file }), signal: request.signal }
      const part = await pageOfHistory(reader, {
        ...input,
        offset: offsetOf(page),
        limit: LISTED,
      })
      return { commits: await readCommits(reader, part.ids), total: await part.total() }
    })
    const address = repositoryUrl(context, grant)
    const verifications = await verifyCommits(context, grant, commits)
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="commits" title="Commits">
        <PathLine address={address} place={place} />
        <CommitList address={address} commits={commits} verifications={verifications} />
        <Pager address={`${address}/commits/${placePath(place)}`} page={page} total={total} />
      </RepositoryDocument>,
    )
  })
}

interface CommitListProps {
  readonly address: string
  readonly commits: readonly Commit[]
  /** Verifications of the commits, in their order. */
  readonly verifications: readonly Verification[]
}

/** Renders a list of commits. */
export function CommitList({ address, commits, verifications }: CommitListProps): JSX.Element {
  return (
    <ul class="list">
      {commits.map(({ id, message, author, committer }, at) => (
        <li>
          <div class="grow">
            <a class="strong" href={`${address}/commit/${id}`}>
              <Shown text={firstLineOf(message)} />
            </a>
            <p class="quiet">
              <Shown text={author.name} /> <Ago atMs={committer.atMs} />
              <VerifiedBadge verification={verifications[at]} />
            </p>
          </div>
          <a href={`${address}/src/commit/${id}`} aria-label={`Files at ${id.slice(0, 10)}`}>
            <code>{id.slice(0, 10)}</code>
          </a>
        </li>
      ))}
    </ul>
  )
}

const whole = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/commits',
  access: ACCESS,
  handle: answer,
})

const inside = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/commits/{place...}',
  access: ACCESS,
  handle: answer,
})

export const COMMITS_PAGES = [whole, inside]
