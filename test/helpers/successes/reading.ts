/** Successful requests, one for each operation that reads Git data. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import { git } from '../git-client.js'

/** Sends the requests in a new repository of ada with a file, a tag and a note, which is kept. */
export async function successesOfReading({ as, pathOf }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'read', auto_init: true })
  const cwd = await pathOf('ada', 'read')
  await git(['tag', '-m', 'The first', 'v1', 'main'], { cwd })
  await git(['notes', 'add', '-m', 'A note', 'main'], { cwd })
  const blob = await git(['rev-parse', 'main:README.md'], { cwd })
  const get = (rest: string) => as('anyone', 'GET', `/repos/ada/read/${rest}`)
  return {
    repoListBranches: await get('branches'),
    repoGetBranch: await get('branches/main'),
    repoListTags: await get('tags'),
    repoGetTag: await get('tags/v1'),
    GetAnnotatedTag: await get('git/tags/v1'),
    repoGetAllCommits: await get('commits'),
    repoGetSingleCommit: await get('git/commits/main'),
    repoDownloadCommitDiffOrPatch: await get('git/commits/main.diff'),
    repoGetNote: await get('git/notes/main'),
    GetTree: await get('git/trees/main?recursive=true'),
    GetBlob: await get(`git/blobs/${blob}`),
    repoListAllGitRefs: await get('git/refs'),
    repoListGitRefs: await get('git/refs/heads/main'),
    repoCompareDiff: await get('compare/v1...main'),
    repoGetContentsList: await get('contents'),
    repoGetContents: await get('contents/README.md'),
    repoGetContentsExt: await get('contents-ext/README.md'),
    repoGetFileContents: await get('file-contents?body={"files":["README.md"]}'),
    repoGetFileContentsPost: await as('ada', 'POST', '/repos/ada/read/file-contents', {
      files: ['README.md'],
    }),
    repoGetRawFile: await get('raw/README.md'),
    repoGetRawFileOrLFS: await get('media/README.md'),
    repoGetArchive: await get('archive/main.zip'),
    repoGetLicenses: await get('licenses'),
    repoGetIssueConfig: await get('issue_config'),
    repoValidateIssueConfig: await get('issue_config/validate'),
    repoGetIssueTemplates: await get('issue_templates'),
    repoGetLanguages: await get('languages'),
  }
}
