/** Successful requests, one for each operation on issues, labels, milestones and comments. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import type { Answer } from '../requests.js'

/** Sends the requests for ada's repository `r` and the organization `club`. */
export async function successesOfIssues({ as }: GatewayWithUsers) {
  const ask = (method: string, path: string, body?: unknown) =>
    as('ada', method, `/repos/ada/r${path}`, body)
  const label = await ask('POST', '/labels', { name: 'bug', color: '#ee0701' })
  const { id: labelId } = label.json as { id: number }
  const milestone = await ask('POST', '/milestones', {
    title: 'v1',
    due_on: '2030-01-02T03:04:05Z',
  })
  const { id: milestoneId } = milestone.json as { id: number }
  const inputs = { labels: [labelId], milestone: milestoneId, assignees: ['ada'] }
  const issue = await ask('POST', '/issues', {
    title: 'It fails',
    body: 'So it does.',
    due_date: '2030-01-02T03:04:05Z',
    ...inputs,
  })
  const { number } = issue.json as { number: number }
  const of = `/issues/${number}`
  const comment = await ask('POST', `${of}/comments`, { body: 'It does.' })
  const said = `/issues/comments/${(comment.json as { id: number }).id}`
  const again = await ask('POST', `${of}/comments`, { body: 'Again.' })
  const second = `/issues/comments/${(again.json as { id: number }).id}`
  const file = Buffer.from('bytes')
  const attached = await ask('POST', `${of}/assets?name=f`, file)
  const asset = `${of}/assets/${(attached.json as { id: number }).id}`
  const added = await ask('POST', `${said}/assets?name=f`, file)
  const ofSaid = `${said}/assets/${(added.json as { id: number }).id}`
  const other = await ask('POST', '/issues', { title: 'Another' })
  const meta = { index: (other.json as { number: number }).number }
  const spent = await ask('POST', `${of}/times`, { time: 60 })
  const timePath = `${of}/times/${(spent.json as { id: number }).id}`
  const content = { content: 'heart' }
  const ofClub = '/orgs/club/labels'
  const shared = await as('ada', 'POST', ofClub, { name: 'all', color: 'abc' })
  const sharedPath = `${ofClub}/${(shared.json as { id: number }).id}`
  return {
    issueCreateLabel: label,
    issueCreateMilestone: milestone,
    issueCreateIssue: issue,
    issueCreateComment: comment,
    issueListIssues: await ask('GET', '/issues'),
    issueSearchIssues: await as('ada', 'GET', '/repos/issues/search'),
    issueGetIssue: await ask('GET', of),
    issueEditIssue: await ask('PATCH', of, { state: 'closed' }),
    issueEditIssueDeadline: await ask('POST', `${of}/deadline`, { due_date: null }),
    issueGetCommentsAndTimeline: await ask('GET', `${of}/timeline`),
    issueGetComments: await ask('GET', `${of}/comments`),
    issueGetRepoComments: await ask('GET', '/issues/comments'),
    issueGetComment: await ask('GET', said),
    issueEditComment: await ask('PATCH', said, { body: 'It did.' }),
    issuePostIssueReaction: await ask('POST', `${of}/reactions`, content),
    issueGetIssueReactions: await ask('GET', `${of}/reactions`),
    issueDeleteIssueReaction: await ask('DELETE', `${of}/reactions`, content),
    issuePostCommentReaction: await ask('POST', `${said}/reactions`, content),
    issueGetCommentReactions: await ask('GET', `${said}/reactions`),
    issueDeleteCommentReaction: await ask('DELETE', `${said}/reactions`, content),
    issueCreateIssueDependencies: await ask('POST', `${of}/dependencies`, meta),
    issueListIssueDependencies: await ask('GET', `${of}/dependencies`),
    issueRemoveIssueDependencies: await ask('DELETE', `${of}/dependencies`, meta),
    issueCreateIssueBlocking: await ask('POST', `${of}/blocks`, meta),
    issueListBlocks: await ask('GET', `${of}/blocks`),
    issueRemoveIssueBlocking: await ask('DELETE', `${of}/blocks`, meta),
    pinIssue: await ask('POST', `${of}/pin`),
    moveIssuePin: await ask('PATCH', `${of}/pin/1`),
    repoListPinnedIssues: await ask('GET', '/issues/pinned'),
    repoListPinnedPullRequests: await ask('GET', '/pulls/pinned'),
    repoNewPinAllowed: await ask('GET', '/new_pin_allowed'),
    unpinIssue: await ask('DELETE', `${of}/pin`),
    issueAddTime: spent,
    issueTrackedTimes: await ask('GET', `${of}/times`),
    repoTrackedTimes: await ask('GET', '/times'),
    userTrackedTimes: await ask('GET', '/times/ada'),
    userCurrentTrackedTimes: await as('ada', 'GET', '/user/times'),
    issueDeleteTime: await ask('DELETE', timePath),
    issueStartStopWatch: await ask('POST', `${of}/stopwatch/start`),
    userGetStopWatches: await as('ada', 'GET', '/user/stopwatches'),
    issueStopStopWatch: await ask('POST', `${of}/stopwatch/stop`),
    issueResetTime: await ask('DELETE', `${of}/times`),
    issueDeleteStopWatch: await started(ask, of),
    issueCreateIssueAttachment: attached,
    issueListIssueAttachments: await ask('GET', `${of}/assets`),
    issueGetIssueAttachment: await ask('GET', asset),
    issueEditIssueAttachment: await ask('PATCH', asset, { name: 'g' }),
    issueDeleteIssueAttachment: await ask('DELETE', asset),
    issueCreateIssueCommentAttachment: added,
    issueListIssueCommentAttachments: await ask('GET', `${said}/assets`),
    issueGetIssueCommentAttachment: await ask('GET', ofSaid),
    issueEditIssueCommentAttachment: await ask('PATCH', ofSaid, { name: 'g' }),
    issueDeleteIssueCommentAttachment: await ask('DELETE', ofSaid),
    issueEditCommentDeprecated: await ask('PATCH', `${of}${said.slice(7)}`, { body: 'x' }),
    issueDeleteCommentDeprecated: await ask('DELETE', `${of}${second.slice(7)}`),
    renderMarkdown: await as('ada', 'POST', '/markdown', { Text: '# a' }),
    renderMarkdownRaw: await as('ada', 'POST', '/markdown/raw', Buffer.from('# a')),
    renderMarkup: await as('ada', 'POST', '/markup', { Text: '# a' }),
    issueDeleteComment: await ask('DELETE', said),
    issueGetLabels: await ask('GET', `${of}/labels`),
    issueAddLabel: await ask('POST', `${of}/labels`, { labels: ['bug'] }),
    issueReplaceLabels: await ask('PUT', `${of}/labels`, { labels: [labelId] }),
    issueRemoveLabel: await ask('DELETE', `${of}/labels/${labelId}`),
    issueClearLabels: await ask('DELETE', `${of}/labels`),
    issueListLabels: await ask('GET', '/labels'),
    issueGetLabel: await ask('GET', `/labels/${labelId}`),
    issueEditLabel: await ask('PATCH', `/labels/${labelId}`, { color: 'abc' }),
    issueDeleteLabel: await ask('DELETE', `/labels/${labelId}`),
    orgCreateLabel: shared,
    orgListLabels: await as('ada', 'GET', ofClub),
    orgGetLabel: await as('ada', 'GET', sharedPath),
    orgEditLabel: await as('ada', 'PATCH', sharedPath, { name: 'every' }),
    orgDeleteLabel: await as('ada', 'DELETE', sharedPath),
    issueGetMilestonesList: await ask('GET', '/milestones'),
    issueGetMilestone: await ask('GET', `/milestones/${milestoneId}`),
    issueEditMilestone: await ask('PATCH', '/milestones/v1', { state: 'closed' }),
    issueDeleteMilestone: await ask('DELETE', '/milestones/v1'),
    issueLockIssue: await ask('PUT', `${of}/lock`, { lock_reason: 'spam' }),
    issueUnlockIssue: await ask('DELETE', `${of}/lock`),
    repoGetAssignees: await ask('GET', '/assignees'),
    repoGetReviewers: await ask('GET', '/reviewers'),
    issueDelete: await ask('DELETE', of),
  }
}

/** Starts a stopwatch and deletes it. Returns the answer to the deletion. */
async function started(ask: (method: string, path: string) => Promise<Answer>, of: string) {
  await ask('POST', `${of}/stopwatch/start`)
  return await ask('DELETE', `${of}/stopwatch/delete`)
}
