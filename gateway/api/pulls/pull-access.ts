/** The object of one pull request with its counts, and descriptions of its path parameters. */

import { type ChangedFile, listChangedFiles } from '../../../cgi/objects/diff.js'
import { isFailure } from '../../../conf/failures.js'
import { rangeOf } from '../../actions/pulls/find-pull.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import type { Grants } from '../../auth/authorize.js'
import { pullObject } from '../../objects/pulls/pull-object.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'

type Grant = Grants['repository']

export const PULL_PARAMS = { ...REPOSITORY_PARAMS, index: 'index of the pull request' }

/** Returns the object of one pull request, with its changed lines and files counted. */
export async function countedPullObject(context: Context, grant: Grant, state: PullState) {
  const files = await countableFiles(context, grant, state)
  const sum = (key: 'additions' | 'deletions') =>
    files.reduce((total, file) => total + file[key], 0)
  const counts = {
    additions: sum('additions'),
    deletions: sum('deletions'),
    changed_files: files.length,
  }
  return await pullObject(context, grant, state, files.length === 0 ? {} : counts)
}

/** Returns the changed files, or none if there are too many or the commits were pruned. */
async function countableFiles(
  context: Context,
  grant: Grant,
  state: PullState,
): Promise<readonly ChangedFile[]> {
  if (state.isHeadLost) return []
  try {
    return await listChangedFiles(
      context.git,
      repositoryPathOf(context, grant.repository),
      rangeOf(state),
    )
  } catch (error) {
    if (isFailure(error, 'payload_too_large')) return []
    throw error
  }
}
