/** Target of the comment form of issues and pull requests: adds a comment, changes the state. */

import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { listTimeline } from '../../../sql/issues/timeline.js'
import { addComment } from '../../actions/issues/add-comment.js'
import { changeIssue } from '../../actions/issues/change-issue.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import { viewerOf } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { definePage, multilineField, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ENTRIES_SHOWN } from './conversation.js'

/** Comment as sent, if it was rejected. */
export interface RejectedComment {
  readonly issue: Issue
  readonly draft: string
  readonly error: string
  readonly status: number
}

/** Returns the form target for issues or pull requests; `again` shows the page with an error. */
export function commentPage(
  kind: 'issues' | 'pulls',
  again: (context: Context, call: Call<'repository'>, refused: RejectedComment) => Promise<Reply>,
): AnyRoute {
  return definePage<'repository'>({
    method: 'POST',
    path: `/{owner}/{repo}/${kind}/{index}/comments`,
    access: {
      kind: 'repository',
      mode: 'read',
      unit: 'conversation',
      isSignedIn: true,
      refusesBlocked: true,
    },
    async handle(context, call) {
      const { request, grant, params } = call
      const issue = await issueOf(context, grant, params)
      if (issue.isPull !== (kind === 'pulls')) throw notFound()
      const form = await readForm(request)
      const text = multilineField(form, 'content')
      const state = stateOf(form.get('state'))
      const { owner, name } = grant.repository
      const path = `/${owner.name}/${name}/${kind}/${issue.number}`
      const say = async () => {
        const isSilent = state !== undefined && text.trim() === ''
        const comment = isSilent ? undefined : await addComment(context, grant, { issue, text })
        const viewer = viewerOf(grant.who)
        const first = { page: 1, limit: 1 }
        const { total } = await listTimeline(context.db, issue.id, { viewer, page: first })
        if (state !== undefined) await changeIssue(context, grant, { issue, patch: { state } })
        if (comment === undefined) return redirectTo(context, path)
        const page = Math.ceil(total / ENTRIES_SHOWN)
        const query = page === 1 ? '' : `?page=${page}`
        return redirectTo(context, `${path}${query}#issuecomment-${comment.id}`)
      }
      return withFormErrors(say, ({ message, status }) =>
        again(context, call, { issue, draft: text, error: message, status }),
      )
    },
  })
}

function stateOf(text: string | null): Issue['state'] | undefined {
  return text === 'open' || text === 'closed' ? text : undefined
}
