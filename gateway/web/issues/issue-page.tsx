/** Page of an issue: title, facts and conversation. */

import type { Reply } from '../../../conf/http.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import { definePage, pageNumber, redirectTo } from '../kit/page.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { commentPage, type RejectedComment } from './comment-page.js'
import { Conversation, readConversation } from './conversation.js'
import { IssueFacts, readFacts } from './issue-facts.js'
import { IssueTools, readTools } from './issue-tools.js'

/** Renders the page of an issue, with a rejected comment or an error message. */
export async function showIssue(
  context: Context,
  { request, grant }: Call<'repository'>,
  { issue, draft, error, status = 200 }: Partial<RejectedComment> & { readonly issue: Issue },
): Promise<Reply> {
  const conversation = await readConversation(context, grant, {
    issue,
    number: pageNumber(request),
  })
  const facts = await readFacts(context, grant, issue)
  const tools = await readTools(context, grant, { issue, facts })
  const { basePath } = context.settings.http
  const page = (
    <RepositoryDocument context={context} grant={grant} tab="issues" title={issue.title}>
      <h2>
        <Shown text={issue.title} /> <span class="quiet">{`#${issue.number}`}</span>
      </h2>
      <p>
        <span class={`label ${issue.state}`}>{issue.state}</span>
        {issue.isLocked && <span class="label">locked</span>}
        {facts.isPinned && <span class="label">pinned</span>}
      </p>
      <IssueFacts base={basePath} facts={facts} viewer={grant.user} />
      <Conversation
        context={context}
        grant={grant}
        conversation={conversation}
        draft={draft}
        error={error}
      />
      <IssueTools base={basePath} grant={grant} facts={facts} tools={tools} />
    </RepositoryDocument>
  )
  return htmlReply(request, page, { status })
}

const one = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/issues/{index}',
  access: { kind: 'repository', mode: 'read', unit: 'conversation' },
  async handle(context, call) {
    const issue = await issueOf(context, call.grant, call.params)
    const { owner, name } = call.grant.repository
    if (issue.isPull) return redirectTo(context, `/${owner.name}/${name}/pulls/${issue.number}`)
    return await showIssue(context, call, { issue })
  },
})

export const ISSUE_PAGES = [one, commentPage('issues', showIssue)]
