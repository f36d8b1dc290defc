/** Successful requests, one for each operation on pull requests. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import { git } from '../git-client.js'

/** Sends the requests in ada's new repository `forge`, whose branches are written to the disk. */
export async function successesOfPulls({ as, pathOf }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'forge', auto_init: true })
  const cwd = await pathOf('ada', 'forge')
  const file = await git(['hash-object', '-w', '--stdin'], { cwd, input: 'a\n' })
  const tree = await git(['mktree'], { cwd, input: `100644 blob ${file}\tREADME.md\n` })
  const tip = await git(['commit-tree', '-p', 'main', '-m', 'Topic', tree], { cwd })
  await git(['update-ref', 'refs/heads/topic', tip], { cwd })
  const of = (method: string, path: string, body?: unknown) =>
    as('ada', method, `/repos/ada/forge/pulls${path}`, body)
  const asked = { reviewers: ['bob'] }
  const line = { path: 'README.md', body: 'Why?', new_position: 1 }
  const said = { body: 'x', event: 'COMMENT', comments: [line] }
  const draft = { body: 'x' }
  const open = { title: 'Topic', head: 'topic', base: 'main' }
  const created = async (body: unknown) => {
    const { json } = await of('POST', '/1/reviews', body)
    return `/1/reviews/${(json as { id: number }).id}`
  }
  const cancelled = async () => {
    await of('POST', '/1/merge', { Do: 'merge', merge_when_checks_succeed: true })
    return await of('DELETE', '/1/merge')
  }
  const ofMerge = async () => {
    const { json } = await of('GET', '/1')
    const { merge_commit_sha: sha } = json as { merge_commit_sha: string }
    return await as('ada', 'GET', `/repos/ada/forge/commits/${sha}/pull`)
  }
  const dismissed = async () => {
    const path = '/repos/ada/forge/pulls/1/reviews'
    const { json } = await as('root', 'POST', path, { event: 'APPROVED' })
    const { id } = json as { readonly id: number }
    return {
      repoDismissPullReview: await of('POST', `/1/reviews/${id}/dismissals`, { message: 'Old' }),
      repoUnDismissPullReview: await of('POST', `/1/reviews/${id}/undismissals`),
    }
  }
  return {
    repoCreatePullRequest: await of('POST', '', open),
    repoListPullRequests: await of('GET', ''),
    repoGetPullRequest: await of('GET', '/1'),
    repoGetPullRequestByBaseHead: await of('GET', '/main/topic'),
    repoEditPullRequest: await of('PATCH', '/1', { body: 'Why' }),
    repoDownloadPullDiffOrPatch: await of('GET', '/1.diff'),
    repoGetPullRequestCommits: await of('GET', '/1/commits'),
    repoGetPullRequestFiles: await of('GET', '/1/files'),
    repoCreatePullReviewRequests: await of('POST', '/1/requested_reviewers', asked),
    repoDeletePullReviewRequests: await of('DELETE', '/1/requested_reviewers', asked),
    repoCreatePullReview: await of('POST', '/1/reviews', said),
    repoListPullReviews: await of('GET', '/1/reviews'),
    repoGetPullReview: await of('GET', await created(said)),
    repoGetPullReviewComments: await of('GET', `${await created(said)}/comments`),
    repoSubmitPullReview: await of('POST', await created(draft), { event: 'COMMENT' }),
    ...(await dismissed()),
    repoDeletePullReview: await of('DELETE', await created(draft)),
    repoUpdatePullRequest: await of('POST', '/1/update'),
    repoCancelScheduledAutoMerge: await cancelled(),
    repoMergePullRequest: await of('POST', '/1/merge', { Do: 'merge' }),
    repoPullRequestIsMerged: await of('GET', '/1/merge'),
    repoGetCommitPullRequest: await ofMerge(),
  }
}
