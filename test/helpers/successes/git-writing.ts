/** Successful requests, one for each operation that writes Git data. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import type { Answer } from '../requests.js'

/** Sends the requests in a new repository, which is kept. */
export async function successesOfGitWriting({ as }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'written' })
  const ask = (method: string, rest: string, body?: unknown): Promise<Answer> =>
    as('ada', method, `/repos/ada/written${rest}`, body)
  const shaOf = (answer: Answer) => (answer.json as { content: { sha: string } }).content.sha
  const created = await ask('POST', '/contents/a', { content: 'YQ==' })
  const updated = await ask('PUT', '/contents/a', { content: 'Yg==', sha: shaOf(created) })
  return {
    repoCreateFile: created,
    repoUpdateFile: updated,
    repoChangeFiles: await ask('POST', '/contents', {
      files: [{ operation: 'create', path: 'b', content: '' }],
    }),
    repoApplyDiffPatch: await ask('POST', '/diffpatch', {
      content: '--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+patched\n',
    }),
    repoDeleteFile: await ask('DELETE', '/contents/a', { sha: shaOf(updated) }),
    repoCreateBranch: await ask('POST', '/branches', { new_branch_name: 'x' }),
    repoRenameBranch: await ask('PATCH', '/branches/x', { name: 'y' }),
    repoDeleteBranch: await ask('DELETE', '/branches/y'),
    repoCreateTag: await ask('POST', '/tags', { tag_name: 'v1', message: 'One' }),
    repoDeleteTag: await ask('DELETE', '/tags/v1'),
    repoPrune: await ask('POST', '/prune', { grace: '1h' }),
  }
}
