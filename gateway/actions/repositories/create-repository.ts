/** Creation of repositories: first the folder, then the row. */

import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import {
  commitFirstFile,
  initRepository,
  removeRepository,
} from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import { parseBranchName, parseRepositoryName } from '../../../conf/names.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  createRepository,
  findRepository,
  type Repository,
} from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'

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
  /** True for a first commit with a README. */
  readonly hasReadme: boolean
}

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
  const storage = newStorageKey()
  const path = repositoryPath(context.settings.data.dir, storage)
  const { objectFormat, hasReadme, owner, description, isPrivate, isTemplate } = wanted
  await initRepository(context.git, path, { defaultBranch, objectFormat })
  try {
    if (hasReadme) await commitReadme(context, path, { ...wanted, defaultBranch })
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

async function commitReadme(context: Context, path: string, wanted: NewRepository): Promise<void> {
  const description = wanted.description === '' ? '' : `\n${wanted.description}\n`
  await commitFirstFile(context.git, path, {
    branch: wanted.defaultBranch,
    fileName: 'README.md',
    content: `# ${wanted.name}\n${description}`,
    author: { name: wanted.creator.fullName || wanted.creator.name, email: wanted.creator.email },
    message: 'Initial commit\n',
    when: new Date(),
  })
}
