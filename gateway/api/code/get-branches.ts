/** Branches over the API: list and read. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { pageOfBranches } from '../../actions/code/branch-page.js'
import { readCommit, readCommits, readGit, revisionOf } from '../../actions/code/git-reader.js'
import { BRANCH, branchObjects } from '../../objects/code/branch-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const PREFIX = 'refs/heads/'

const list = defineOperation({
  id: 'repoListBranches',
  method: 'GET',
  path: '/repos/{owner}/{repo}/branches',
  summary: "List a repository's branches",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(BRANCH) },
  dependsOn: 'repository',
  failures: [404],
  async handle(context, { grant, query, request }) {
    const page = pageOf(query)
    const { entries, total } = await readGit(context, grant, async (reader) => {
      const found = await pageOfBranches(context, { request, grant }, page)
      const commits = await readCommits(
        reader,
        found.entries.map(({ id }) => id),
      )
      const branches = commits.map((commit, at) => ({
        name: found.entries[at]?.name.slice(PREFIX.length) ?? '',
        commit,
      }))
      return { entries: await branchObjects(context, grant, branches), total: found.total }
    })
    const { owner, name } = grant.repository
    const path = `/repos/${owner.name}/${name}/branches`
    return pageReply(context, entries, { path, page, total })
  },
})

const get = defineOperation({
  id: 'repoGetBranch',
  method: 'GET',
  path: '/repos/{owner}/{repo}/branches/{branch...}',
  summary:
    'Retrieve a specific branch from a repository, including its effective branch protection',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, branch: 'branch to get' },
  query: NO_QUERY,
  success: { status: 200, schema: BRANCH },
  dependsOn: 'repository',
  failures: [404],
  async handle(context, { grant, params }) {
    const name = params['branch'] ?? ''
    const commit = await readGit(context, grant, async (reader) => {
      if (name === '') throw notFound()
      const { commitId } = await revisionOf(reader, grant, PREFIX + name)
      return readCommit(reader, commitId)
    })
    const [branch] = await branchObjects(context, grant, [{ name, commit }])
    return jsonReply(200, branch)
  },
})

export const BRANCH_READING_OPERATIONS: readonly AnyOperation[] = [list, get]
