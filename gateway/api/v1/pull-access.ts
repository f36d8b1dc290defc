/** Which pull request a request is about, and what the repository has of it. */

import { type ChangedFile, listChangedFiles } from '../../../cgi/diff.js'
import { isFailure } from '../../../conf/failures.js'
import { findPull } from '../../../sql/pulls.js'
import { pathOf } from '../../actions/git-reader.js'
import { isServed, issueOf, noSuchThing } from '../../actions/issue-access.js'
import { type PullState, refreshPulls } from '../../actions/refresh-pulls.js'
import type { Grants } from '../../auth/gate.js'
import type { Context } from '../../context.js'
import { REPOSITORY_PARAMS } from './issue-params.js'
import { pullObject } from './pull-object.js'

type Grant = Grants['repository']

export const PULL_PARAMS = { ...REPOSITORY_PARAMS, index: 'index of the pull request' }

/** Throws `not_found` where the repository has no pull requests. */
export function refuseWithoutPulls({ repository }: Grant): void {
  if (!isServed(repository, { isPull: true })) throw noSuchThing()
}

/** The pull request `{index}` as the repository has it now. Throws `not_found`. */
export async function pullOf(
  context: Context,
  grant: Grant,
  params: Readonly<Record<string, string>>,
): Promise<PullState> {
  const issue = await issueOf(context, grant, params)
  const pull = await findPull(context.db, issue.id)
  if (pull === undefined) throw noSuchThing()
  const [state] = await refreshPulls(context, grant.repository, [{ issue, pull }])
  if (state === undefined) throw noSuchThing()
  return state
}

/** What a pull request would bring: from where the branches went apart to its head. */
export function rangeOf({ pull }: Pick<PullState, 'pull'>): {
  readonly from: string
  readonly to: string
} {
  return { from: pull.mergeBase, to: pull.headCommit }
}

/** The object of one pull request, with its lines and files counted. */
export async function countedPullObject(context: Context, grant: Grant, state: PullState) {
  const files = await countableFiles(context, grant, state)
  const sum = (key: 'additions' | 'deletions') =>
    files.reduce((total, file) => total + file[key], 0)
  const counts = {
    ...{ additions: sum('additions'), deletions: sum('deletions') },
    changed_files: files.length,
  }
  return await pullObject(context, grant, state, files.length === 0 ? {} : counts)
}

/** None where they are too many to count. */
async function countableFiles(
  context: Context,
  grant: Grant,
  state: PullState,
): Promise<readonly ChangedFile[]> {
  try {
    return await listChangedFiles(context.git, pathOf(context, grant), rangeOf(state))
  } catch (error) {
    if (isFailure(error, 'payload_too_large')) return []
    throw error
  }
}
