/** Merging one branch into another without a working copy: commits are told by full id alone. */

import { Failure } from '../conf/failures.js'
import { REBASE_COMMITS_MAX } from '../conf/limits.js'
import { parseCommit, type Signature } from './commit-object.js'
import { checkedId, findMergeBase, isAncestor, listCommitsToRebase } from './commit-range.js'
import { firstLine, type Git, tryGit } from './git.js'
import { type ObjectReader, withObjects } from './objects.js'
import { keepCommits, withWorkbench } from './workbench.js'
import { writeCommit } from './write-objects.js'

export type MergeStyle = 'merge' | 'squash' | 'rebase' | 'rebase-merge' | 'fast-forward-only'

export interface MergeWish {
  readonly style: MergeStyle
  /** The tip of the branch that is merged into. */
  readonly base: string
  /** The tip of the branch that is merged. */
  readonly head: string
  /** Of a merge commit, or of the one commit of a squash. */
  readonly message: string
  /** Of the one commit of a squash. */
  readonly author: Signature
  /** Who merges. */
  readonly committer: Signature
}

/**
 * Makes the commits of a merge and answers the new tip of the base; no reference moves. Throws
 * `conflict` when the two cannot be brought together in that style.
 */
export async function makeMerge(git: Git, path: string, wish: MergeWish): Promise<string> {
  refuseOldGit(git)
  const { style, base, head } = wish
  if ((await findMergeBase(git, path, [base, head])) === undefined) {
    throw new Failure('conflict', 'The two branches have no history in common.')
  }
  const isForward = await isAncestor(git, path, { older: base, younger: head })
  if (style === 'fast-forward-only') {
    if (isForward) return head
    throw new Failure('conflict', 'The base branch has moved on: it cannot be fast-forwarded.')
  }
  return await withWorkbench(path, async (bench) => {
    const tip = await STYLES[style](git, bench, wish)
    await keepCommits(git, path, { bench, tip, known: [base, head] })
    return tip
  })
}

/** Whether the two can be merged without a conflict. Nothing is kept of the attempt. */
export async function canMerge(
  git: Git,
  path: string,
  { base, head }: Pick<MergeWish, 'base' | 'head'>,
): Promise<boolean> {
  if (!mergesTrees(git)) return false
  const mergeBase = await findMergeBase(git, path, [base, head])
  if (mergeBase === undefined) return false
  if (mergeBase === base || mergeBase === head) return true
  return await withWorkbench(path, async (bench) => {
    return (await mergeTrees(git, bench, { ours: base, theirs: head })) !== undefined
  })
}

export const MERGE_CONFLICT = 'The branches have changes that conflict.'

type MakeTip = (git: Git, bench: string, wish: MergeWish) => Promise<string>

const STYLES: Readonly<Record<Exclude<MergeStyle, 'fast-forward-only'>, MakeTip>> = {
  async merge(git, bench, { base, head, message, committer }) {
    const tree = await mergeTreesOrRefuse(git, bench, { ours: base, theirs: head })
    const people = { author: committer, committer }
    return await writeCommit(git, bench, { tree, parents: [base, head], ...people, message })
  },

  async squash(git, bench, { base, head, message, author, committer }) {
    const tree = await mergeTreesOrRefuse(git, bench, { ours: base, theirs: head })
    return await writeCommit(git, bench, { tree, parents: [base], author, committer, message })
  },

  rebase: rebaseCommits,

  async 'rebase-merge'(git, bench, wish) {
    const { base, message, committer } = wish
    const tip = await rebaseCommits(git, bench, wish)
    const tree = await withObjects(git, bench, (objects) => treeOf(objects, tip))
    const people = { author: committer, committer }
    return await writeCommit(git, bench, { tree, parents: [base, tip], ...people, message })
  },
}

/** Commit by commit onto the base, as `git rebase` does it; what becomes empty is left out. */
async function rebaseCommits(
  git: Git,
  bench: string,
  { base, head, committer }: Pick<MergeWish, 'base' | 'head' | 'committer'>,
): Promise<string> {
  const ids = await listCommitsToRebase(git, bench, { from: base, to: head })
  if (ids.length > REBASE_COMMITS_MAX) {
    throw new Failure('conflict', `A rebase takes at most ${REBASE_COMMITS_MAX} commits.`)
  }
  return await withObjects(git, bench, async (objects) => {
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
      const tree = await applyChange(git, bench, { ...step, committer })
      const wasEmpty = commit.tree === parentTree
      if (tree === tipTree && !wasEmpty) continue
      const { author, message } = commit
      tip = await writeCommit(git, bench, { tree, parents: [tip], author, committer, message })
      tipTree = tree
    }
    return tip
  })
}

interface Change {
  /** Absent: there was nothing before. */
  readonly from: string | undefined
  readonly ours: string
  readonly theirs: string
  readonly committer: Signature
}

/**
 * The tree `ours` with what differs from `from` to `theirs`. Git takes another base than that of
 * the history from 2.40 on (`--merge-base`); commits of the bench that have one serve all.
 */
async function applyChange(git: Git, bench: string, change: Change): Promise<string> {
  const { from, ours, theirs, committer } = change
  if (from === ours || from === theirs || ours === theirs) return from === ours ? theirs : ours
  const write = (tree: string, parents: readonly string[]) =>
    writeCommit(git, bench, { tree, parents, author: committer, committer, message: '' })
  const base = await write(from ?? (await emptyTree(git, bench)), [])
  const [one, other] = [await write(ours, [base]), await write(theirs, [base])]
  return await mergeTreesOrRefuse(git, bench, { ours: one, theirs: other })
}

async function emptyTree(git: Git, bench: string): Promise<string> {
  const { output } = await tryGit(git, ['mktree'], { cwd: bench })
  return checkedId(output.toString().trim())
}

interface Sides {
  readonly ours: string
  readonly theirs: string
}

async function mergeTreesOrRefuse(git: Git, bench: string, sides: Sides): Promise<string> {
  const tree = await mergeTrees(git, bench, sides)
  if (tree === undefined) throw new Failure('conflict', MERGE_CONFLICT)
  return tree
}

/** The merged tree of two commits; undefined where they conflict. */
async function mergeTrees(
  git: Git,
  bench: string,
  { ours, theirs }: Sides,
): Promise<string | undefined> {
  const options = ['--write-tree', '--no-messages', '--name-only', '-z']
  const args = ['merge-tree', ...options, checkedId(ours), checkedId(theirs)]
  const { exitCode, output, errorText } = await tryGit(git, args, { cwd: bench })
  if (exitCode === 1) return undefined
  if (exitCode === 0) return checkedId(output.toString().split('\0', 1)[0] ?? '')
  throw new Error(`git merge-tree failed (${exitCode}): ${firstLine(errorText)}`)
}

async function treeOf(objects: ObjectReader, id: string): Promise<string> {
  return (await readCommit(objects, id)).tree
}

async function readCommit(objects: ObjectReader, id: string) {
  const found = await objects.read(checkedId(id))
  if (found?.content === undefined) throw new Error(`the commit ${id} is missing`)
  return parseCommit(found.id, found.content)
}

/** `git merge-tree --write-tree` is there from 2.38 on. */
function mergesTrees({ version: [major, minor] }: Git): boolean {
  return major > 2 || minor >= 38
}

function refuseOldGit(git: Git): void {
  if (mergesTrees(git)) return
  const version = git.version.join('.')
  throw new Failure('unavailable', `Merging needs git 2.38 or newer; this server has ${version}.`)
}
