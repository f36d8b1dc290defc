/** Creation of repositories: first the folder, then the row. */

import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import {
  commitFirstFiles,
  type FirstFile,
  initRepository,
  removeRepository,
} from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import { parseBranchName, parseRepositoryName } from '../../../conf/names.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { createLabel } from '../../../sql/issues/labels.js'
import {
  createRepository,
  findRepository,
  type Repository,
} from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { markerOf } from '../../request/repository-markers.js'
import { type FirstFilesInput, firstFiles } from './first-files.js'
import { findLabelSet, listLabelSets } from './label-sets.js'

export interface NewRepository {
  readonly owner: Owner
  /** Caller, who becomes the author of the first commit. */
  readonly creator: User
  readonly name: string
  readonly description: string
  readonly isPrivate: boolean
  readonly isTemplate: boolean
  readonly defaultBranch: string
  readonly objectFormat: 'sha1' | 'sha256'
  /** True for a first commit with a README and the files of the templates. */
  readonly hasReadme: boolean
  readonly templates?: Templates
}

/** Names of templates; an empty name is no template. */
export interface Templates extends Pick<FirstFilesInput, 'gitignores' | 'license'> {
  /** Name of the set of labels. */
  readonly labels: string
}

const NO_TEMPLATES: Templates = { gitignores: '', license: '', labels: '' }

/**
 * Creates a repository. Throws `invalid` for a name that is not permitted and `conflict` for a
 * taken one. A crash may leave a folder without a row, but never a row without a folder.
 */
export async function makeRepository(context: Context, wanted: NewRepository): Promise<Repository> {
  const name = parseRepositoryName(wanted.name)
  const defaultBranch = parseBranchName(wanted.defaultBranch)
  if ((await findRepository(context.db, wanted.owner.name, name)) !== undefined) {
    throw new Failure('conflict', 'The repository with the same name already exists.')
  }
  const { templates = NO_TEMPLATES } = wanted
  const labels = labelsOf(templates)
  const files = await firstFiles({
    ...templates,
    repositoryName: name,
    description: wanted.description,
    copyrightHolder: wanted.owner.fullName || wanted.owner.name,
  })
  const storage = newStorageKey()
  const path = repositoryPath(context.settings.data.dir, storage)
  const { objectFormat, hasReadme, owner, description, isPrivate, isTemplate } = wanted
  const marker = markerOf({ owner, name })
  await initRepository(context.git, path, { defaultBranch, objectFormat, marker })
  try {
    if (hasReadme) await commitFiles(context, path, { ...wanted, defaultBranch, files })
    const made = await createRepository(context.db, {
      ownerId: owner.id,
      name,
      storage,
      description,
      isPrivate,
      isTemplate,
      defaultBranch,
      objectFormat,
      isEmpty: !hasReadme,
      website: '',
      preferences: {},
      watcherId: owner.kind === 'organization' ? wanted.creator.id : undefined,
    })
    for (const label of labels) {
      await createLabel(context.db, { repositoryId: made.id }, { ...label, isArchived: false })
    }
    await context.events.publish({
      kind: 'repository_created',
      repository: made,
      actor: wanted.creator,
    })
    return made
  } catch (error) {
    await removeRepository(path)
    throw error
  }
}

/** Returns the labels of the set. Throws `bad_request` if there is no such set. */
function labelsOf({ labels }: Templates) {
  if (labels === '') return []
  const found = findLabelSet(labels)
  if (found !== undefined) return found
  const known = listLabelSets().join(', ')
  const message = `There is no set of labels ${JSON.stringify(labels)}, only: ${known}.`
  throw new Failure('bad_request', message)
}

async function commitFiles(
  context: Context,
  path: string,
  { creator, defaultBranch, files }: NewRepository & { readonly files: readonly FirstFile[] },
): Promise<void> {
  await commitFirstFiles(context.git, path, {
    branch: defaultBranch,
    files,
    author: { name: creator.fullName || creator.name, email: creator.email },
    message: 'Initial commit\n',
    when: new Date(),
  })
}
