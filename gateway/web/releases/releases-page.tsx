/** Release pages: the paginated list, a release by its tag, and the latest release. */

import { decodePercent } from '../../../conf/http.js'
import { listAttachments } from '../../../sql/releases/attachments.js'
import {
  latestRelease,
  listVisibleReleases,
  releaseOfTag,
} from '../../actions/releases/visible-releases.js'
import { Shown } from '../../rendering/visible-text.js'
import { drawWritten } from '../issues/written.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl, tagPath } from '../kit/links.js'
import { definePage, pageNumber, redirectTo } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { ReleaseView, titleOfRelease } from './release-view.js'

const LISTED = 10
const ACCESS = { kind: 'repository', mode: 'read', unit: 'releases' } as const

const list = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/releases',
  access: ACCESS,
  async handle(context, { request, grant }) {
    const page = { page: pageNumber(request), limit: LISTED }
    const { entries, total } = await listVisibleReleases(context, grant, { page })
    const ids = entries.map(({ id }) => id)
    const attachments = await listAttachments(context.db, ids)
    const texts = entries.map(({ body }) => body)
    const drawn = await drawWritten(context, grant, { texts, headingsBelow: 3 })
    const address = `${repositoryUrl(context, grant)}/releases`
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="releases" title="Releases">
        <h2>Releases</h2>
        {entries.length === 0 && <p class="empty">There are no releases yet.</p>}
        {entries.map((release) => (
          <ReleaseView
            context={context}
            grant={grant}
            release={release}
            attachments={attachments}
            drawn={drawn}
          >
            <h3>
              <a href={`${address}/tag/${tagPath(release.tagName)}`}>
                <Shown text={titleOfRelease(release)} />
              </a>
            </h3>
          </ReleaseView>
        ))}
        <Pager address={address} page={page} total={total} />
      </RepositoryDocument>,
    )
  },
})

const one = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/releases/tag/{tag...}',
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const release = await releaseOfTag(context, grant, decodePercent(params['tag'] ?? ''))
    const attachments = await listAttachments(context.db, [release.id])
    const title = titleOfRelease(release)
    const drawn = await drawWritten(context, grant, { texts: [release.body], headingsBelow: 2 })
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} title={title} tab="releases">
        <ReleaseView
          context={context}
          grant={grant}
          release={release}
          attachments={attachments}
          drawn={drawn}
        >
          <h2>
            <Shown text={title} />
          </h2>
        </ReleaseView>
      </RepositoryDocument>,
    )
  },
})

const latest = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/releases/latest',
  access: ACCESS,
  async handle(context, { grant }) {
    const { tagName } = await latestRelease(context, grant)
    const { owner, name } = grant.repository
    return redirectTo(context, `/${owner.name}/${name}/releases/tag/${tagPath(tagName)}`)
  },
})

export const RELEASES_PAGES = [list, one, latest]
