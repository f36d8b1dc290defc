/** Page with the differences between two revisions of a wiki page. */

import { findRevision } from '../../../cgi/refs/revision.js'
import { notFound } from '../../../conf/failures.js'
import { wikiNameOf } from '../../../conf/wiki-name.js'
import { findWikiPage, readWiki, type WikiReader } from '../../actions/wiki/read-wiki.js'
import { Shown } from '../../rendering/visible-text.js'
import { Diff } from '../code/diff.js'
import { readShownDiff } from '../code/shown-diff.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage } from '../kit/page.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { segmentIn } from './wiki-path.js'

export const WIKI_DIFF_PAGE = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/wiki/{pageName}/_diff',
  access: { kind: 'repository', mode: 'read', unit: 'wiki' },
  async handle(context, { request, grant }) {
    const name = wikiNameOf(segmentIn(request, '_diff'))
    const query = new URLSearchParams(request.query)
    const { from, to, diff } = await readWiki(context, { request, grant }, async (wiki) => {
      const [from, to] = [
        await revisionOf(wiki, query, 'from'),
        await revisionOf(wiki, query, 'to'),
      ]
      const found =
        (await findWikiPage(wiki.objects, to, name)) ??
        (await findWikiPage(wiki.objects, from, name))
      if (found === undefined) throw notFound()
      const { signal } = wiki
      return { from, to, diff: await readShownDiff(wiki, { from, to, file: found.file, signal }) }
    })
    const address = `${repositoryUrl(context, grant)}/wiki/${name.segment}`
    return htmlReply(
      request,
      <RepositoryDocument
        context={context}
        grant={grant}
        tab="wiki"
        title={`Diff of ${name.title}`}
      >
        <h2>
          <Shown text={name.title} />
        </h2>
        <p>
          <code>{from.slice(0, 10)}</code>
          {' → '}
          <code>{to.slice(0, 10)}</code>
          {' · '}
          <a href={`${address}/_history`}>Revisions</a>
        </p>
        <Diff diff={diff} />
      </RepositoryDocument>,
    )
  },
})

/** Returns the commit that the query names by its full id. Throws `not_found`. */
async function revisionOf(
  { objects }: WikiReader,
  query: URLSearchParams,
  field: 'from' | 'to',
): Promise<string> {
  const text = query.get(field) ?? ''
  const found = /^[0-9a-f]{40,64}$/.test(text) && (await findRevision(objects, text))
  if (!found) throw notFound()
  return found.commitId
}
