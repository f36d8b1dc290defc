/** The files that commits add, remove and modify, by one `git log` for several of them. */

import { type Git, runGit } from './git.js'

/** A commit, and the paths in which it differs from its first parent. */
export interface CommitFiles {
  readonly id: string
  readonly added: string[]
  readonly removed: string[]
  readonly modified: string[]
}

export interface CommitRange {
  /** The commit to begin with: a full id. */
  readonly last: string
  /** What this one leads to is left out: a full id. */
  readonly before: string | undefined
  readonly commitsMax: number
}

/** Paths of one commit that are told; an import of a whole system has more than anybody reads. */
const PATHS_MAX = 3_000

/** The newest commits of a range with their files, in the order of `git log`. */
export async function commitsWithFiles(
  git: Git,
  path: string,
  range: CommitRange,
): Promise<readonly CommitFiles[]> {
  const output = await runGit(
    git,
    [
      ...['log', '-z', '--name-status', '--no-renames', '--diff-merges=first-parent'],
      ...['--format=%H', `--max-count=${range.commitsMax}`, ...boundsOf(range)],
    ],
    { cwd: path },
  )
  return parseLog(output.toString())
}

/** How many commits are in the range, up to its maximum. */
export async function countCommits(git: Git, path: string, range: CommitRange): Promise<number> {
  const words = ['rev-list', '--count', `--max-count=${range.commitsMax}`, ...boundsOf(range)]
  return Number((await runGit(git, words, { cwd: path })).toString())
}

function boundsOf({ last, before }: CommitRange): readonly string[] {
  const ids = before === undefined ? [last] : [last, `^${before}`]
  if (!ids.every((id) => /^\^?[0-9a-f]{40,64}$/.test(id))) throw new Error('an id is wanted')
  return ['--end-of-options', ...ids, '--']
}

/** `<id> NUL`, then for each file a letter, NUL, the path, NUL; a line break before the first. */
function parseLog(text: string): readonly CommitFiles[] {
  const found: CommitFiles[] = []
  const words = text.split('\0')
  for (let at = 0; at < words.length; at += 1) {
    const word = (words[at] ?? '').replace(/^\n/, '')
    const commit = found.at(-1)
    if (/^[0-9a-f]{40,64}$/.test(word)) {
      found.push({ id: word, added: [], removed: [], modified: [] })
    } else if (word !== '' && commit !== undefined) {
      at += 1
      const paths = listOf(commit, word)
      if (paths.length < PATHS_MAX) paths.push(words[at] ?? '')
    }
  }
  return found
}

function listOf(commit: CommitFiles, letter: string): string[] {
  if (letter === 'A') return commit.added
  return letter === 'D' ? commit.removed : commit.modified
}
