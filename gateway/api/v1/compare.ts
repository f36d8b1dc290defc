/** What one revision has beyond another, over the API. */

import { type Static, Type } from 'typebox'
import { pageOfHistory } from '../../../cgi/history.js'
import { withObjects } from '../../../cgi/objects.js'
import { withWorkbench } from '../../../cgi/workbench.js'
import { findHead, type Head } from '../../actions/find-head.js'
import {
  type Caller,
  type GitReader,
  inQueue,
  noSuchThing,
  pathOf,
  type RepositoryGrant,
  readGit,
  revisionOf,
} from '../../actions/git-reader.js'
import type { Context } from '../../context.js'
import { jsonReply } from '../door.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { COMMIT } from './commit-schema.js'
import { describeCommits } from './get-commits.js'

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
    const caller = { request, grant }
    const { base, head } = splitBaseHead(grant, params['basehead'] ?? '')
    const named = await findHead(context, grant, head)
    if (named === undefined) throw noSuchThing()
    const wish = { base, head: named }
    const isHere = named.repository.id === grant.repository.id
    const answer = await inQueue(context, caller, () =>
      isHere ? compareHere(context, caller, wish) : compareWith(context, caller, wish),
    )
    return jsonReply(200, answer)
  },
})

interface Wish {
  readonly base: string
  readonly head: Head
}

type Answer = Static<typeof COMPARE>

function compareHere(context: Context, caller: Caller, { base, head }: Wish): Promise<Answer> {
  const { grant } = caller
  return readGit(context, grant, async (reader) => {
    const { commitId: not } = await revisionOf(reader, grant, base)
    const { commitId: from } = await revisionOf(reader, grant, head.branch)
    return await describeRange(context, caller, { reader, not, from })
  })
}

/** Names mean what they mean in their own repository; the histories are read side by side. */
async function compareWith(
  context: Context,
  caller: Caller,
  { base, head }: Wish,
): Promise<Answer> {
  const { grant } = caller
  const { git } = context
  const idOf = (place: RepositoryGrant, name: string) =>
    readGit(context, place, async (reader) => (await revisionOf(reader, place, name)).commitId)
  const not = await idOf(grant, base)
  const from = await idOf({ ...grant, repository: head.repository }, head.branch)
  const compareOn = (path: string) =>
    withObjects(git, path, (objects) =>
      describeRange(context, caller, { reader: { git, path, objects }, not, from }),
    )
  return await withWorkbench(pathOf(context, grant), compareOn, [head.path])
}

async function describeRange(
  context: Context,
  caller: Caller,
  {
    reader,
    not,
    from,
  }: { readonly reader: GitReader; readonly not: string; readonly from: string },
): Promise<Answer> {
  const { signal } = caller.request
  const wish = { from, not, offset: 0, limit: COMMITS_MAX, signal }
  const { ids, total } = await pageOfHistory(reader.git, reader.path, wish)
  const [total_commits, commits] = await Promise.all([
    total(),
    describeCommits(context, caller, { reader, ids }),
  ])
  return { total_commits, commits }
}

/** `base...head` or `base..head`; of one name alone it is compared with the default branch. */
function splitBaseHead(
  grant: RepositoryGrant,
  text: string,
): { readonly base: string; readonly head: string } {
  // No name of a reference holds two dots.
  const [base = '', head, ...more] = text.split(/\.{2,3}/)
  if (more.length > 0 || text === '') throw noSuchThing()
  if (head === undefined) return { base: '', head: base }
  return { base: withoutOwner(grant, base), head }
}

/** The base is of this repository, whose owner may be told. */
function withoutOwner({ repository }: RepositoryGrant, text: string): string {
  const colon = text.indexOf(':')
  if (colon < 0) return text
  const { owner } = repository
  if (text.slice(0, colon).toLowerCase() !== owner.name.toLowerCase()) throw noSuchThing()
  return text.slice(colon + 1)
}

export const COMPARE_OPERATIONS: readonly AnyOperation[] = [compare]
