/** What a pull request brings: its commits, and the files that they change. */

import { pullOf, rangeOf } from '../actions/find-pull.js'
import { inQueue, readGit, readRange } from '../actions/git-reader.js'
import { addressOf, CommitList } from './commits-page.js'
import { Diff, readShownDiff } from './diff.js'
import { htmlReply } from './html.js'
import { definePage, pageNumber } from './page.js'
import { Pager } from './pager.js'
import { PullDocument, seePull } from './pull-document.js'

const LISTED = 30
const ACCESS = { kind: 'repository', mode: 'read' } as const

const commits = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/pulls/{index}/commits',
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const seen = await seePull(context, grant, await pullOf(context, grant, params))
    const page = { page: pageNumber(request), limit: LISTED }
    const part = await inQueue(context, { request, grant }, () =>
      readGit(context, grant, (reader) => readRange(reader, rangeOf(seen.state), page)),
    )
    const address = addressOf(context, grant)
    const own = `${address}/pulls/${seen.state.issue.number}/commits`
    return htmlReply(
      request,
      <PullDocument {...{ context, grant, seen }} tab="commits">
        <CommitList address={address} commits={part.commits} />
        <Pager address={own} page={page} total={part.total} />
      </PullDocument>,
    )
  },
})

const files = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/pulls/{index}/files',
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const seen = await seePull(context, grant, await pullOf(context, grant, params))
    const range = { ...rangeOf(seen.state), signal: request.signal }
    const diff = await inQueue(context, { request, grant }, () =>
      readGit(context, grant, (reader) => readShownDiff(reader, range)),
    )
    return htmlReply(
      request,
      <PullDocument {...{ context, grant, seen }} tab="files">
        <Diff diff={diff} />
      </PullDocument>,
    )
  },
})

export const PULL_CONTENTS_PAGES = [commits, files]
