/** The newest commits of a history, with their parents. */

import { type Git, NO_REPLACEMENTS, runGit } from '../process/git.js'
import { fullId } from '../process/git-output.js'
import { hasGrafts } from '../repository/repository-state.js'
import { newCommits } from './new-commits.js'
import { withPacks } from './packed-objects.js'

/** Maximum number of commits that are read without a process. */
const NEAR_COMMITS_MAX = 64

/** A part of a history: what these commits reach and the known ones do not. */
export interface HistoryQuestion {
  readonly tips: readonly string[]
  readonly known: readonly string[]
  /** Maximum number of commits. */
  readonly count: number
}

/**
 * Returns the newest commits of a part of the history, each as its id and those of its parents.
 * Missing objects are left out, and trees and files as well. Throws if git fails.
 */
export async function recentCommits(
  git: Git,
  path: string,
  { tips, known, count }: HistoryQuestion,
): Promise<ReadonlyArray<readonly string[]>> {
  const args = ['rev-list', '--parents', '--ignore-missing', `--max-count=${count}`, '--stdin']
  const input = [...tips.map(fullId), ...known.map((id) => `^${fullId(id)}`), ''].join('\n')
  const output = await runGit(git, args, { cwd: path, input, environment: NO_REPLACEMENTS })
  const lines = output.toString().split('\n').filter(Boolean)
  return lines.map((line) => line.split(' '))
}

/**
 * Returns the commits between tips and known ones, likewise, without a process. Returns undefined
 * if there are too many, or if git must read them.
 */
export async function commitsNear(
  path: string,
  {
    tips,
    isKnown,
  }: { readonly tips: readonly string[]; readonly isKnown: (id: string) => boolean },
): Promise<ReadonlyArray<readonly string[]> | undefined> {
  if (hasGrafts(path)) return undefined
  const question = { wanted: tips, known: [], isKnown, readsMax: NEAR_COMMITS_MAX }
  const commits = await withPacks(path, (packs) => newCommits(packs.objects, question))
  return commits?.map(({ id, parents }) => [id, ...parents])
}
