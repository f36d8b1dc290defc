/** What one revision has beyond another, over the API. */

import { type Static, Type } from 'typebox'
import { pageOfHistory } from '../../../cgi/history.js'
import { jsonReply } from '../door.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { COMMIT } from './commit-schema.js'
import { describeCommits } from './get-commits.js'
import { inQueue, noSuchThing, type RepositoryGrant, readGit, revisionOf } from './git-reader.js'

const COMPARE = Type.Object(
  { total_commits: Type.Integer(), commits: Type.Array(COMMIT) },
  { $id: 'Compare' },
)

/** Commits that one comparison tells of; it says how many there are. */
const COMMITS_MAX = 500

const compare = defineOperation({
  id: 'repoCompareDiff',
  method: 'GET',
  path: '/repos/{owner}/{repo}/compare/{basehead...}',
  summary: 'Get commit comparison information',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: {
    owner: 'owner of the repo',
    repo: 'name of the repo',
    basehead: 'compare two branches or commits',
  },
  query: NO_QUERY,
  success: { status: 200, schema: COMPARE },
  failures: [404],
  async handle(context, { request, grant, params }) {
    const { base, head } = splitBaseHead(grant, params['basehead'] ?? '')
    const { signal } = request
    const answer = await inQueue(context, { request, grant }, () =>
      readGit(context, grant, async (reader): Promise<Static<typeof COMPARE>> => {
        const { commitId: not } = await revisionOf(reader, grant, base)
        const { commitId: from } = await revisionOf(reader, grant, head)
        const { git, path } = reader
        const wish = { from, not, offset: 0, limit: COMMITS_MAX, signal }
        const { ids, total } = await pageOfHistory(git, path, wish)
        const [total_commits, commits] = await Promise.all([
          total(),
          describeCommits(context, { request, grant }, { reader, ids }),
        ])
        return { total_commits, commits }
      }),
    )
    return jsonReply(200, answer)
  },
})

/** `base...head` or `base..head`; of one name alone it is compared with the default branch. */
function splitBaseHead(
  grant: RepositoryGrant,
  text: string,
): { readonly base: string; readonly head: string } {
  // No name of a reference holds two dots.
  const [base = '', head, ...more] = text.split(/\.{2,3}/)
  if (more.length > 0 || text === '') throw noSuchThing()
  if (head === undefined) return { base: '', head: withoutOwner(grant, base) }
  return { base: withoutOwner(grant, base), head: withoutOwner(grant, head) }
}

/** `ada:main` is a branch of ada's repository, which this one is, or there is none. */
function withoutOwner({ repository }: RepositoryGrant, text: string): string {
  const colon = text.indexOf(':')
  if (colon < 0) return text
  const { owner } = repository
  if (text.slice(0, colon).toLowerCase() !== owner.name.toLowerCase()) throw noSuchThing()
  return text.slice(colon + 1)
}

export const COMPARE_OPERATIONS: readonly AnyOperation[] = [compare]
