/** Merges of branches without a working tree. Commits are given by their full ids. */

import { Failure, isFailure } from '../../conf/failures.js'
import { type Git, gitError, tryGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'
import { findRefusal, refusalKey, rememberRefusal } from '../process/refusals.js'
import { keepCommits, withTemporaryRepository } from '../repository/temporary-repository.js'
import { parseCommit, type Signature } from './commit-object.js'
import {
  isAncestor,
  listCommitsToRebase,
  listDivergedCommits,
  listMergeBases,
} from './commit-range.js'
import type { ObjectReader } from './objects.js'
import { areWalkable } from './tree-size.js'
import { withObjects } from './with-objects.js'
import { writeCommit } from './write-objects.js'

/** Maximum number of paths in which both sides of a merge differ from the merge bases. */
const MERGE_PATHS_MAX = 200_000

/** Maximum number of commits of a rebase, which rewrites them one after the other. */
const REBASE_COMMITS_MAX = 500

export type MergeStyle = 'merge' | 'squash' | 'rebase' | 'rebase-merge' | 'fast-forward-only'

export interface MergeInput {
  readonly style: MergeStyle
  /** Id of the tip of the branch that is merged into. */
  readonly base: string
  /** Id of the tip of the branch that is merged. */
  readonly head: string
  /** Message of the merge commit or the squashed commit. */
  readonly message: string
  /** Author of the squashed commit. */
  readonly author: Signature
  /** The user who merges. */
  readonly committer: Signature
}

/**
 * Creates the commits of a merge and returns the id of the new tip of the base. No ref is changed.
 * Throws `conflict` if the branches cannot be merged in that style or within git's limits.
 */
export async function makeMerge(git: Git, path: string, input: MergeInput): Promise<string> {
  refuseOldGit(git)
  const { style, base, head } = input
  const bases = await listMergeBases(git, path, [base, head])
  if (bases.length === 0) {
    throw new Failure('conflict', 'The two branches have no history in common.')
  }
  const isForward = await isAncestor(git, path, { older: base, younger: head })
  if (style === 'fast-forward-only') {
    if (isForward) return head
    throw new Failure('conflict', 'The base branch has diverged, so it cannot be fast-forwarded.')
  }
  const rebases = style === 'rebase' || style === 'rebase-merge'
  const key = rebases ? refusalKey(path, ['rebase', base, head]) : mergeKey(path, input)
  try {
    return await rememberRefusal(key, async () => {
      await refuseLarge(git, path, { base, head, bases })
      return await withTemporaryRepository(path, async (temporary) => {
        const tip = await STYLES[style](git, temporary, input)
        await keepCommits(git, path, { temporary, tip, known: [base, head] })
        return tip
      })
    })
  } catch (error) {
    if (!isFailure(error, 'payload_too_large')) throw error
    throw new Failure('conflict', error.message, { cause: error })
  }
}

type Tips = Pick<MergeInput, 'base' | 'head'>

function mergeKey(path: string, { base, head }: Tips): string {
  return refusalKey(path, ['merge', base, head])
}

/** In-flight merge attempts, by `mergeKey`. */
const attempts = new Map<string, Promise<boolean>>()

/**
 * Returns true if two commits merge without a conflict. Keeps no objects of the attempt. Throws
 * `payload_too_large` if the attempt exceeds git's limits and `unavailable` if it times out;
 * `findMergeRefusal` returns either later. Concurrent callers share one attempt.
 */
export async function canMerge(git: Git, path: string, tips: Tips): Promise<boolean> {
  if (!mergesTrees(git)) return false
  const key = mergeKey(path, tips)
  const attempt = attempts.get(key) ?? rememberRefusal(key, () => attemptMerge(git, path, tips))
  attempts.set(key, attempt)
  try {
    return await attempt
  } finally {
    attempts.delete(key)
  }
}

async function attemptMerge(git: Git, path: string, { base, head }: Tips): Promise<boolean> {
  const bases = await listMergeBases(git, path, [base, head])
  if (bases.length === 0) return false
  if (bases.includes(base) || bases.includes(head)) return true
  await refuseLarge(git, path, { base, head, bases })
  return await withTemporaryRepository(path, async (temporary) => {
    return (await mergeTrees(git, temporary, { ours: base, theirs: head })) !== undefined
  })
}

/** Returns the message of an earlier attempt that exceeded git's limits, if it is remembered. */
export function findMergeRefusal(path: string, tips: Tips): string | undefined {
  return findRefusal(mergeKey(path, tips))?.message
}

/** Throws for too many changed paths: git holds every path that differs from a merge base. */
async function refuseLarge(
  git: Git,
  path: string,
  { base, head, bases }: Tips & { readonly bases: readonly string[] },
): Promise<void> {
  const isSmall = await withObjects(git, path, async (objects) => {
    const [ours, theirs, ...before] = await Promise.all(
      [base, head, ...bases].map((id) => treeOf(objects, id)),
    )
    const pairs = before.flatMap((tree) => [
      { before: tree, after: ours },
      { before: tree, after: theirs },
    ])
    return areWalkable(objects, pairs, MERGE_PATHS_MAX)
  })
  if (!isSmall) throw tooLarge()
}

function tooLarge(): Failure {
  const sentence = 'The branches differ in too many paths to be merged.'
  return new Failure('payload_too_large', sentence)
}

export const MERGE_CONFLICT = 'The branches have changes that conflict.'

type MakeTip = (git: Git, temporary: string, input: MergeInput) => Promise<string>

const STYLES: Readonly<Record<Exclude<MergeStyle, 'fast-forward-only'>, MakeTip>> = {
  async merge(git, temporary, { base, head, message, committer }) {
    const tree = await mergeTreesOrRefuse(git, temporary, { ours: base, theirs: head })
    const roles = { author: committer, committer }
    return await writeCommit(git, temporary, { tree, parents: [base, head], ...roles, message })
  },

  async squash(git, temporary, { base, head, message, author, committer }) {
    const tree = await mergeTreesOrRefuse(git, temporary, { ours: base, theirs: head })
    return await writeCommit(git, temporary, { tree, parents: [base], author, committer, message })
  },

  rebase: rebaseCommits,

  async 'rebase-merge'(git, temporary, input) {
    const { base, message, committer } = input
    const tip = await rebaseCommits(git, temporary, input)
    const tree = await withObjects(git, temporary, (objects) => treeOf(objects, tip))
    const roles = { author: committer, committer }
    return await writeCommit(git, temporary, { tree, parents: [base, tip], ...roles, message })
  },
}

/** Applies each commit to the base, as `git rebase` does. Commits that become empty are dropped. */
async function rebaseCommits(
  git: Git,
  temporary: string,
  { base, head, committer }: Pick<MergeInput, 'base' | 'head' | 'committer'>,
): Promise<string> {
  await refuseLargeCommits(git, temporary, { base, head })
  const ids = await listCommitsToRebase(git, temporary, { from: base, to: head })
  if (ids.length > REBASE_COMMITS_MAX) {
    throw new Failure('conflict', `A rebase takes at most ${REBASE_COMMITS_MAX} commits.`)
  }
  return await withObjects(git, temporary, async (objects) => {
    let tip = base
    let tipTree = await treeOf(objects, base)
    for (const id of ids) {
      const commit = await readCommit(objects, id)
      const [parent] = commit.parents
      if (parent === tip) {
        tip = id
        tipTree = commit.tree
        continue
      }
      const parentTree = parent === undefined ? undefined : await treeOf(objects, parent)
      const step = { from: parentTree, ours: tipTree, theirs: commit.tree }
      const tree = await applyChange(git, temporary, { ...step, committer })
      const wasEmpty = commit.tree === parentTree
      if (tree === tipTree && !wasEmpty) continue
      const { author, message } = commit
      tip = await writeCommit(git, temporary, { tree, parents: [tip], author, committer, message })
      tipTree = tree
    }
    return tip
  })
}

/** Throws if a commit changes too many paths: git compares the changes of all commits. */
async function refuseLargeCommits(
  git: Git,
  temporary: string,
  { base, head }: Tips,
): Promise<void> {
  const ids = await listDivergedCommits(git, temporary, { from: base, to: head })
  await withObjects(git, temporary, async (objects) => {
    for (const id of ids) {
      const { parents, tree } = await readCommit(objects, id)
      const [parent] = parents
      const before = parent === undefined ? undefined : await treeOf(objects, parent)
      const isSmall = await areWalkable(objects, [{ before, after: tree }], MERGE_PATHS_MAX)
      if (!isSmall) throw tooLarge()
    }
  })
}

interface Change {
  /** Id of the tree before the change; undefined for a root commit. */
  readonly from: string | undefined
  readonly ours: string
  readonly theirs: string
  readonly committer: Signature
}

/**
 * Returns the tree `ours` with the difference between `from` and `theirs` applied. `git merge-tree`
 * accepts an explicit merge base only since 2.40 (`--merge-base`), so this creates commits of both
 * trees in the temporary repository, with a commit of `from` as their parent.
 */
async function applyChange(git: Git, temporary: string, change: Change): Promise<string> {
  const { from, ours, theirs, committer } = change
  if (from === ours || from === theirs || ours === theirs) return from === ours ? theirs : ours
  const write = (tree: string, parents: readonly string[]) =>
    writeCommit(git, temporary, { tree, parents, author: committer, committer, message: '' })
  const base = await write(from ?? (await emptyTree(git, temporary)), [])
  const [one, other] = [await write(ours, [base]), await write(theirs, [base])]
  return await mergeTreesOrRefuse(git, temporary, { ours: one, theirs: other })
}

async function emptyTree(git: Git, temporary: string): Promise<string> {
  const { output } = await tryGit(git, ['mktree'], { cwd: temporary })
  return fullId(output.toString().trim())
}

interface Sides {
  readonly ours: string
  readonly theirs: string
}

async function mergeTreesOrRefuse(git: Git, temporary: string, sides: Sides): Promise<string> {
  const tree = await mergeTrees(git, temporary, sides)
  if (tree === undefined) throw new Failure('conflict', MERGE_CONFLICT)
  return tree
}

/** Returns the merged tree of two commits; undefined if they conflict. */
async function mergeTrees(
  git: Git,
  temporary: string,
  { ours, theirs }: Sides,
): Promise<string | undefined> {
  const options = ['--write-tree', '--no-messages', '--name-only', '-z']
  const args = ['merge-tree', ...options, fullId(ours), fullId(theirs)]
  const end = await tryGit(git, args, { cwd: temporary, work: 'merge' })
  if (end.exitCode === 1) return undefined
  if (end.exitCode === 0) return fullId(end.output.toString().split('\0', 1)[0] ?? '')
  throw gitError('merge-tree', end)
}

async function treeOf(objects: ObjectReader, id: string): Promise<string> {
  return (await readCommit(objects, id)).tree
}

async function readCommit(objects: ObjectReader, id: string) {
  const found = await objects.read(fullId(id))
  if (found?.content === undefined) throw new Error(`the commit ${id} is missing`)
  return parseCommit(found.id, found.content)
}

/** Returns true if git has `merge-tree --write-tree`, which was added in 2.38. */
function mergesTrees({ version: [major, minor] }: Git): boolean {
  return major > 2 || minor >= 38
}

function refuseOldGit(git: Git): void {
  if (mergesTrees(git)) return
  const version = git.version.join('.')
  throw new Failure('unavailable', `Merging needs git 2.38 or newer; this server has ${version}.`)
}
