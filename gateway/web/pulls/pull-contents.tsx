/** Pages of a pull request's commits and changed files, its diff as text, and the review form. */

import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { readGit, readRange } from '../../actions/code/git-reader.js'
import { addReview } from '../../actions/pulls/add-review.js'
import { pullOf, rangeOf } from '../../actions/pulls/find-pull.js'
import { pullTextReply } from '../../actions/pulls/pull-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { CommitList } from '../code/commits-page.js'
import { Diff } from '../code/diff.js'
import { readShownDiff } from '../code/shown-diff.js'
import { verifyCommits } from '../code/verified-badge.js'
import { htmlReply } from '../kit/html.js'
import { issueUrl, repositoryUrl } from '../kit/links.js'
import {
  definePage,
  fieldOf,
  multilineField,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { ErrorMessage } from '../kit/problem.js'
import { PullDocument, withVisibleHead } from './pull-document.js'
import { ReviewForm, reviewRefusal } from './review-form.js'

const LISTED = 30
const ACCESS = { kind: 'repository', mode: 'read', unit: 'pulls' } as const

const commits = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/pulls/{index}/commits',
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const seen = await withVisibleHead(context, grant, await pullOf(context, grant, params))
    const page = { page: pageNumber(request), limit: LISTED }
    const part = await inQueue(context, { request, grant }, () =>
      readGit(context, grant, (reader) => readRange(reader, rangeOf(seen.state), page)),
    )
    const address = repositoryUrl(context, grant)
    const own = `${address}/pulls/${seen.state.issue.number}/commits`
    const verifications = await verifyCommits(context, grant, part.commits)
    return htmlReply(
      request,
      <PullDocument context={context} grant={grant} seen={seen} tab="commits">
        <CommitList address={address} commits={part.commits} verifications={verifications} />
        <Pager address={own} page={page} total={part.total} />
      </PullDocument>,
    )
  },
})

interface Again {
  /** Review form as sent, if it was rejected. */
  readonly form?: URLSearchParams
  readonly error?: string
  readonly status?: number
}

async function showFiles(
  context: Context,
  { request, grant, params }: Call<'repository'>,
  { status = 200, form, error }: Again,
): Promise<Reply> {
  const seen = await withVisibleHead(context, grant, await pullOf(context, grant, params))
  const { state } = seen
  const range = { ...rangeOf(state), signal: request.signal }
  const diff = await inQueue(context, { request, grant }, () =>
    readGit(context, grant, (reader) => readShownDiff(reader, range)),
  )
  const own = issueUrl(context, grant, state.issue)
  const page = (
    <PullDocument context={context} grant={grant} seen={seen} tab="files">
      <ErrorMessage error={error} />
      <p>
        All changes as a <a href={`${own}.diff`}>diff</a> or as <a href={`${own}.patch`}>patches</a>
      </p>
      <Diff diff={diff} />
      <ReviewForm context={context} grant={grant} state={state} form={form} />
    </PullDocument>
  )
  return htmlReply(request, page, { status })
}

const files = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/pulls/{index}/files',
  access: ACCESS,
  handle: (context, call) => showFiles(context, call, {}),
})

const text = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/pulls/{index}.{diffType:diff|patch}',
  access: ACCESS,
  handle: (context, call) => pullTextReply(context, call, { hasBinary: true }),
})

const review = definePage<'repository'>({
  method: 'POST',
  path: '/{owner}/{repo}/pulls/{index}/reviews',
  access: { ...ACCESS, isSignedIn: true, refusesBlocked: true },
  async handle(context, call) {
    const { request, grant, params } = call
    const form = await readForm(request)
    const { owner, name } = grant.repository
    const give = async () => {
      const state = await pullOf(context, grant, params)
      const [event, commitId] = [fieldOf(form, 'event'), fieldOf(form, 'head')]
      if (event === '' || commitId === '') {
        throw new Failure('invalid', 'The form has no verdict or no commit. Load the page again.')
      }
      const input = {
        state,
        event,
        commitId,
        content: multilineField(form, 'content'),
        comments: [],
      }
      await addReview(context, grant, input)
      return redirectTo(context, `/${owner.name}/${name}/pulls/${state.issue.number}`)
    }
    return withFormErrors(give, ({ message, status }) =>
      showFiles(context, call, { form, error: reviewRefusal(message), status }),
    )
  },
})

export const PULL_CONTENTS_PAGES = [commits, files, text, review]
