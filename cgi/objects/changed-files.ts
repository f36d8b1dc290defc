/** The files that commits add, remove and modify. */

import { type Git, runGit } from '../process/git.js'
import { readChanges } from './commit-changes.js'
import { type Commit, parseCommit } from './commit-object.js'
import type { ObjectReader } from './objects.js'
import type { ChangedPath } from './tree-changes.js'
import { withObjects } from './with-objects.js'

/** A commit with the paths that differ from its first parent. */
export interface CommitFiles {
  readonly commit: Commit
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly modified: readonly string[]
}

export interface CommitRange {
  /** Full id of the newest commit. */
  readonly last: string
  /** Full id of a commit that is left out together with its ancestors. */
  readonly before: string | undefined
  readonly commitsMax: number
}

/** Maximum number of paths in each list of a commit. */
const PATHS_MAX = 3_000

/**
 * Lists the newest commits of a range with their files, newest first. A commit has no files if it
 * changed more paths than `readChanges` reads.
 */
export async function commitsWithFiles(
  git: Git,
  path: string,
  range: CommitRange,
): Promise<readonly CommitFiles[]> {
  const words = ['rev-list', `--max-count=${range.commitsMax}`, ...boundsOf(range)]
  const ids = (await runGit(git, words, { cwd: path })).toString().split('\n').filter(Boolean)
  return await withObjects(git, path, async (objects) => {
    const commits = await Promise.all(ids.map((id) => readCommit(objects, id)))
    const changes = await readChanges({ git, path, objects }, { commits, hasLines: false })
    return commits.map((commit) => ({ commit, ...listsOf(changes.get(commit.id)?.files ?? []) }))
  })
}

async function readCommit(objects: ObjectReader, id: string): Promise<Commit> {
  const { content } = (await objects.read(id)) ?? {}
  if (content === undefined) throw new Error(`the commit ${id} cannot be read`)
  return parseCommit(id, content)
}

/** Counts the commits in the range, up to its maximum. */
export async function countCommits(git: Git, path: string, range: CommitRange): Promise<number> {
  const words = ['rev-list', '--count', `--max-count=${range.commitsMax}`, ...boundsOf(range)]
  return Number((await runGit(git, words, { cwd: path })).toString())
}

function boundsOf({ last, before }: CommitRange): readonly string[] {
  const ids = before === undefined ? [last] : [last, `^${before}`]
  if (!ids.every((id) => /^\^?[0-9a-f]{40,64}$/.test(id))) throw new Error('not a full commit id')
  return ['--end-of-options', ...ids, '--']
}

function listsOf(files: readonly ChangedPath[]): Omit<CommitFiles, 'commit'> {
  const pathsOf = (wanted: ChangedPath['status']) =>
    files.flatMap(({ path, status }) => (status === wanted ? [path] : [])).slice(0, PATHS_MAX)
  return { added: pathsOf('added'), removed: pathsOf('removed'), modified: pathsOf('modified') }
}
