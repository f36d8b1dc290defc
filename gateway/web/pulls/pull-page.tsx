/** Page of a pull request: conversation, reviews, checks and merge. */

import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { combineCommitStatuses } from '../../../sql/code/commit-statuses.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import { pullOf } from '../../actions/pulls/find-pull.js'
import { mergeNow } from '../../actions/pulls/merge-now.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { CHECKS_SHOWN, Checks } from '../code/checks.js'
import { commentPage, type RejectedComment } from '../issues/comment-page.js'
import { Conversation, readConversation } from '../issues/conversation.js'
import { IssueFacts, readFacts } from '../issues/issue-facts.js'
import { IssueTools, readTools } from '../issues/issue-tools.js'
import { htmlReply } from '../kit/html.js'
import {
  definePage,
  fieldOf,
  multilineField,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { MergeBox, readMerge, STYLES, sentenceOf } from './merge-box.js'
import { PullDocument, withVisibleHead } from './pull-document.js'
import { Reviews, readReviews } from './reviews.js'

interface Again extends Partial<Omit<RejectedComment, 'issue'>> {
  /** Error message of the merge. */
  readonly mergeError?: string
}

/** Renders the page of a pull request, with a rejected comment or an error message. */
export async function showPull(
  context: Context,
  { request, grant, params }: Call<'repository'>,
  { draft, error, mergeError, status = 200 }: Again,
): Promise<Reply> {
  const state = await pullOf(context, grant, params)
  const { issue, pull } = state
  const seen = await withVisibleHead(context, grant, state)
  const conversation = await readConversation(context, grant, {
    issue,
    number: pageNumber(request),
  })
  const place = { repositoryId: pull.repositoryId, commitId: pull.headCommit }
  const [facts, merge, reviews, combined] = [
    await readFacts(context, grant, issue),
    await readMerge(context, grant, state),
    await readReviews(context, grant, pull),
    await combineCommitStatuses(context.db, place, { page: 1, limit: CHECKS_SHOWN }),
  ]
  const tools = await readTools(context, grant, { issue, facts })
  const { basePath } = context.settings.http
  const page = (
    <PullDocument context={context} grant={grant} seen={seen} tab="">
      <ErrorMessage error={mergeError === undefined ? undefined : sentenceOf(mergeError)} />
      <IssueFacts base={basePath} facts={facts} viewer={grant.user} />
      <Conversation
        context={context}
        grant={grant}
        conversation={conversation}
        draft={draft}
        error={error}
      >
        <Reviews context={context} grant={grant} shown={reviews} />
        <Checks combined={combined} />
        <MergeBox context={context} grant={grant} state={state} merge={merge} />
      </Conversation>
      <IssueTools base={basePath} grant={grant} facts={facts} tools={tools} />
    </PullDocument>
  )
  return htmlReply(request, page, { status })
}

const one = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/pulls/{index}',
  access: { kind: 'repository', mode: 'read', unit: 'pulls' },
  async handle(context, call) {
    const { isPull, number } = await issueOf(context, call.grant, call.params)
    const { owner, name } = call.grant.repository
    if (!isPull) return redirectTo(context, `/${owner.name}/${name}/issues/${number}`)
    return await showPull(context, call, {})
  },
})

const merge = definePage<'repository'>({
  method: 'POST',
  path: '/{owner}/{repo}/pulls/{index}/merge',
  access: { kind: 'repository', mode: 'read', unit: 'pulls', isSignedIn: true, changesGit: true },
  async handle(context, call) {
    const { request, grant, params } = call
    const form = await readForm(request)
    const { owner, name } = grant.repository
    const work = async () => {
      const doer = actingUserOf(grant)
      const state = await pullOf(context, grant, params)
      const order = orderOf(form)
      await mergeNow(context, grant, {
        state,
        doer,
        order,
        inQueue: (work) => inQueue(context, { request, grant }, work),
      })
      return redirectTo(context, `/${owner.name}/${name}/pulls/${state.issue.number}`)
    }
    return withFormErrors(work, ({ message, status }) =>
      showPull(context, call, { mergeError: message, status }),
    )
  },
})

/** Reads the merge form. Throws `invalid` if it lacks the method or the head commit. */
function orderOf(form: URLSearchParams) {
  const [style, headCommit] = [fieldOf(form, 'style'), fieldOf(form, 'head')]
  if (!isStyle(style) || headCommit === '') {
    throw new Failure('invalid', 'The form has no merge method or no commit. Load the page again.')
  }
  const [title, message] = [fieldOf(form, 'title'), multilineField(form, 'message')]
  return { style, headCommit, title, message, deletesBranch: form.has('delete') }
}

function isStyle(text: string): text is keyof typeof STYLES {
  return Object.hasOwn(STYLES, text)
}

export const PULL_PAGES = [one, merge, commentPage('pulls', showPull)]
