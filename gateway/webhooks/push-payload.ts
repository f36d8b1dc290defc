/** Payload of `push`: the newest commits with their files, and the number of all commits. */

import {
  type CommitRange,
  commitsWithFiles,
  countCommits,
} from '../../cgi/objects/changed-files.js'
import { withObjects } from '../../cgi/objects/with-objects.js'
import type { PushedChange } from '../../cgi/refs/pushed-changes.js'
import type { Owner } from '../../sql/accounts/owners.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { ownerObject } from '../objects/accounts/user-object.js'
import { payloadCommits } from '../objects/code/commit-json.js'
import type { PayloadCommitObject } from '../objects/code/commit-schema.js'
import { repositoryObject } from '../objects/repositories/repository-object.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'

/** Maximum number of commits in a payload. */
const COMMITS_MAX = 5
/** Maximum count for a new branch, whose commits would be counted from the first one. */
const COMMITS_OF_NEW_BRANCH_MAX = 10
/** Maximum count for an existing branch. */
const COUNT_MAX = 1_000_000

export interface Pushed {
  readonly repository: Repository
  readonly pusher: Owner
  readonly change: PushedChange
}

/** Renders the payload of `push`. */
export async function pushPayload(context: Context, pushed: Pushed): Promise<object> {
  const { repository, pusher, change } = pushed
  const { name, before, after } = change
  const nothing = { commits: [], total: 0, head: null, from: before }
  const found = after === undefined ? nothing : await commitsOf(context, pushed, { after, before })
  const zeros = '0'.repeat((after ?? before ?? '').length)
  const user = ownerObject(context, pusher)
  return {
    ref: name,
    before: before ?? zeros,
    after: after ?? zeros,
    compare_url: compareUrl(context, repository, found.from, after),
    commits: found.commits,
    total_commits: found.total,
    head_commit: found.head,
    repository: await repositoryObject(context, repository, 'owner'),
    pusher: user,
    sender: user,
  }
}

/** Renders the payload of a test delivery: one commit, as before and as after. */
export async function testPushPayload(
  context: Context,
  { repository, pusher, ref, commitId }: Omit<Pushed, 'change'> & { ref: string; commitId: string },
): Promise<object> {
  const range = { last: commitId, before: undefined, commitsMax: 1 }
  const commits = await readCommits(context, repository, range)
  const user = ownerObject(context, pusher)
  return {
    ref,
    before: commitId,
    after: commitId,
    compare_url: compareUrl(context, repository, commitId, commitId),
    commits,
    total_commits: commits.length,
    head_commit: commits[0] ?? null,
    repository: await repositoryObject(context, repository, 'owner'),
    pusher: user,
    sender: user,
  }
}

interface Move {
  readonly before: string | undefined
  readonly after: string
}

interface FoundCommits {
  readonly commits: readonly PayloadCommitObject[]
  readonly total: number
  readonly head: PayloadCommitObject | null
  /** Commit or branch with which the compare URL begins. */
  readonly from: string | undefined
}

async function commitsOf(
  context: Context,
  { repository, change }: Pushed,
  { before, after }: Move,
): Promise<FoundCommits> {
  const path = repositoryPathOf(context, repository)
  if (!change.name.startsWith('refs/heads/')) {
    const id = await withObjects(context.git, path, (objects) => objects.read(`${after}^{commit}`))
    const range = id && { last: id.id, before: undefined, commitsMax: 1 }
    const [head = null] = range === undefined ? [] : await readCommits(context, repository, range)
    return { commits: [], total: 0, head, from: before }
  }
  const countMax = before === undefined ? COMMITS_OF_NEW_BRANCH_MAX : COUNT_MAX
  const range = { last: after, before }
  const commits = await readCommits(context, repository, { ...range, commitsMax: COMMITS_MAX })
  const isAll = commits.length < COMMITS_MAX
  const total = isAll
    ? commits.length
    : await countCommits(context.git, path, { ...range, commitsMax: countMax })
  // A branch that was set back has a head commit but no new ones.
  const last = { last: after, before: undefined, commitsMax: 1 }
  const [head = null] = commits.length > 0 ? commits : await readCommits(context, repository, last)
  return { commits, total, head, from: before ?? baseOf(repository, change) }
}

/** Returns the default branch, with which a new branch is compared. */
function baseOf({ defaultBranch }: Repository, { name }: PushedChange): string | undefined {
  return name === `refs/heads/${defaultBranch}` ? undefined : defaultBranch
}

async function readCommits(
  context: Context,
  repository: Repository,
  range: CommitRange,
): Promise<readonly PayloadCommitObject[]> {
  const { git, settings } = context
  const path = repositoryPathOf({ settings }, repository)
  const files = await commitsWithFiles(git, path, range)
  const commits = files.map(({ commit }) => commit)
  const objects = await payloadCommits(context, { repository, user: undefined }, commits)
  return objects.map((object, at) => {
    const { added = [], removed = [], modified = [] } = files[at] ?? {}
    return { ...object, added: [...added], removed: [...removed], modified: [...modified] }
  })
}

function compareUrl(
  { settings }: Context,
  { owner, name }: Repository,
  from: string | undefined,
  to: string | undefined,
): string {
  if (from === undefined || to === undefined) return ''
  return `${settings.http.baseUrl}/${owner.name}/${name}/compare/${from}...${to}`
}
