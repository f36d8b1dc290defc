/** Changes of the settings of a repository. */

import { branchExists, setDefaultBranch } from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import { parseBranchName, parseRepositoryName } from '../../../conf/names.js'
import {
  findRepositoryById,
  type Repository,
  type RepositoryPatch,
  updateRepository,
} from '../../../sql/repositories/repositories.js'
import { setMirrorInterval } from '../../../sql/repositories/repository-sources.js'
import type { Context } from '../../request/context.js'
import { remarkRepository } from '../../request/repository-markers.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { refuseLonger } from '../accounts/refuse-longer.js'

export const DESCRIPTION_CHARACTERS_MAX = 2_048
export const WEBSITE_CHARACTERS_MAX = 1_024

/** Changes of a repository. Absent fields and preferences keep their value. */
export interface RepositoryInput
  extends Omit<RepositoryPatch, 'isEmpty' | 'sizeKib' | 'pushedAtMs'> {
  readonly mirrorIntervalMs?: number | undefined
}

/**
 * Changes a repository and returns its new state. Throws `invalid` for a name that is not
 * permitted, a missing branch, a text too long, or Actions if the site has none, and `conflict` for
 * a taken name.
 */
export async function editRepository(
  context: Context,
  repository: Repository,
  input: RepositoryInput,
): Promise<Repository> {
  if (input.preferences?.['has_actions'] === true && !context.settings.actions.isEnabled) {
    throw new Failure('invalid', 'Actions cannot be enabled: the setting actions.enabled is false.')
  }
  const { mirrorIntervalMs, ...patch } = checked(repository, input)
  if (patch.defaultBranch !== undefined && patch.defaultBranch !== repository.defaultBranch) {
    await changeDefaultBranch(context, repository, patch.defaultBranch)
  }
  await updateRepository(context.db, repository.id, patch)
  if (changesSchedules(repository, patch)) await context.upkeep.enqueueSchedules(repository.id)
  if (mirrorIntervalMs !== undefined) {
    await setMirrorInterval(context.db, repository.id, mirrorIntervalMs)
  }
  const edited = (await findRepositoryById(context.db, repository.id)) ?? repository
  if (edited.name !== repository.name) await remarkRepository(context, edited)
  return edited
}

/** True if the change may add or remove schedules of workflows. */
function changesSchedules(
  { defaultBranch, preferences }: Repository,
  patch: RepositoryPatch,
): boolean {
  const { defaultBranch: branch, preferences: wanted } = patch
  const isOther = branch !== undefined && branch !== defaultBranch
  return isOther || (wanted !== undefined && wanted['has_actions'] !== preferences['has_actions'])
}

function checked({ preferences }: Repository, input: RepositoryInput): RepositoryInput {
  const { name, defaultBranch, description, website } = input
  refuseLonger('description', description, DESCRIPTION_CHARACTERS_MAX)
  refuseLonger('website', website, WEBSITE_CHARACTERS_MAX)
  return {
    ...input,
    name: name === undefined ? undefined : parseRepositoryName(name),
    defaultBranch: defaultBranch === undefined ? undefined : parseBranchName(defaultBranch),
    preferences: { ...preferences, ...input.preferences },
  }
}

async function changeDefaultBranch(
  context: Context,
  repository: Repository,
  branch: string,
): Promise<void> {
  const path = repositoryPathOf(context, repository)
  if (!repository.isEmpty && !(await branchExists(context.git, path, branch))) {
    throw new Failure('invalid', `The branch ${branch} does not exist.`)
  }
  await setDefaultBranch(context.git, path, branch)
}
