/** Reachability of objects from the tips of refs. */

import { type Git, gitError, NO_REPLACEMENTS, tryGit } from '../process/git.js'
import { fullId, gitRecordBatches } from '../process/git-output.js'

/** Object ids of one repository. */
export interface ReachabilityQuestion {
  readonly oids: readonly string[]
  /** Tips of refs: read up to twice; those of several refs may be repeated. */
  readonly tips: Iterable<string>
}

/**
 * Result of a check; `unknown` if one of the objects is missing, or is a tree or a file that the
 * tips themselves do not contain.
 */
export type Reachability =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly commit: string }
  | { readonly kind: 'unknown' }

/**
 * Checks if each object is reachable from one of the tips. `unreachable` names a commit that is
 * not, or a tag of one. Git stops at the oldest of the commits, and reads the history from the
 * commit-graph. Trees and files are searched only in the trees of the tips, because a search in all
 * of the history takes long. Throws if git fails, and if a tip is missing.
 */
export async function checkReachability(
  git: Git,
  path: string,
  { oids, tips }: ReachabilityQuestion,
): Promise<Reachability> {
  // With --objects, ids that are not commits are printed as well, followed by a space. The filter
  // leaves out the trees of commits.
  const args = ['rev-list', '--objects', '--filter=tree:0', '--max-count=1', '--stdin']
  const options = { cwd: path, input: inputOf(oids, tips), environment: NO_REPLACEMENTS }
  const end = await tryGit(git, args, options)
  if (end.exitCode !== 0) {
    // An object that was not checked for another reason must not be sent.
    const [, missing = ''] = /^fatal: bad object ([0-9a-f]+)$/m.exec(end.errorText) ?? []
    if (oids.includes(missing)) return { kind: 'unknown' }
    // The history of a tip is complete, so no tip reaches a commit with a missing ancestor.
    const [first] = oids
    const isIncomplete = /^error: Could not read [0-9a-f]+$/m.test(end.errorText)
    if (isIncomplete && first !== undefined) return { kind: 'unreachable', commit: first }
    throw gitError(args[0], end)
  }
  const printed = end.output.toString().split('\n').filter(Boolean)
  if (printed.length === 0) return { kind: 'reachable' }
  const [commit] = printed.filter((line) => !line.includes(' '))
  if (commit !== undefined) {
    const wanted = oids.includes(commit) ? commit : oids[0]
    return { kind: 'unreachable', commit: wanted ?? commit }
  }
  const others = new Set(printed.map((line) => line.slice(0, line.indexOf(' '))))
  return { kind: (await areInTrees(git, path, { others, tips })) ? 'reachable' : 'unknown' }
}

/** Number of tips in one piece of git's input: a repository may have a million. */
const TIPS_PART = 1_000

/** Yields the objects, and the tips as excluded ones, in lines. */
function* inputOf(oids: readonly string[], tips: Iterable<string>): Generator<string> {
  let lines = oids.map((id) => `${fullId(id)}\n`)
  for (const id of tips) {
    lines.push(`^${fullId(id)}\n`)
    if (lines.length < TIPS_PART) continue
    yield lines.join('')
    lines = []
  }
  yield lines.join('')
}

/** Maximum number of tips whose trees are searched. */
const TREES_MAX = 64

interface TreeQuestion {
  /** Trees and files, which the search removes as it finds them. */
  readonly others: Set<string>
  readonly tips: Iterable<string>
}

/** Returns true if the trees of the first tips contain all of the trees and files. */
async function areInTrees(
  git: Git,
  path: string,
  { others, tips }: TreeQuestion,
): Promise<boolean> {
  const args = ['rev-list', '--objects', '--no-object-names', '--no-walk=unsorted', '--stdin']
  const searched = new Set<string>()
  for (const id of tips) if (searched.add(fullId(id)).size === TREES_MAX) break
  const input = `${[...searched].join('\n')}\n`
  for await (const batch of gitRecordBatches(git, args, { cwd: path, input, separator: '\n' })) {
    for (const oid of batch) others.delete(oid)
    if (others.size === 0) return true
  }
  return false
}
