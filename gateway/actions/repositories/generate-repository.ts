/** Creation of repositories from a template: first the folder, then the row. */

import { withObjects } from '../../../cgi/objects/with-objects.js'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import { initRepository, removeRepository } from '../../../cgi/repository/repository.js'
import { generateRepository } from '../../../cgi/repository/template.js'
import { Failure } from '../../../conf/failures.js'
import { parseBranchName, parseRepositoryName } from '../../../conf/names.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  findRepository,
  NAME_TAKEN,
  type Repository,
} from '../../../sql/repositories/repositories.js'
import { createFromTemplate } from '../../../sql/repositories/templates.js'
import type { Context } from '../../request/context.js'
import { markerOf } from '../../request/repository-markers.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { applyPushEffects } from '../code/push-effects.js'

export interface WantedCopy {
  readonly template: Repository
  readonly owner: Owner
  /** Caller, who becomes the author of the only commit. */
  readonly creator: User
  readonly name: string
  readonly description: string
  readonly isPrivate: boolean
  readonly defaultBranch: string
  /** True to copy the files of the default branch; the next two copy topics and labels. */
  readonly hasContent: boolean
  readonly hasTopics: boolean
  readonly hasLabels: boolean
  readonly signal: AbortSignal
}

/**
 * Creates a repository. Throws `invalid` for a name that is not permitted, `conflict` for a taken
 * one and `unavailable` if too many git processes run. A crash may leave a folder without a row.
 */
export async function makeFromTemplate(context: Context, wanted: WantedCopy): Promise<Repository> {
  const { db, settings } = context
  const { template, owner, creator, description, isPrivate } = wanted
  const { hasContent, hasTopics, hasLabels } = wanted
  const name = parseRepositoryName(wanted.name)
  const defaultBranch = parseBranchName(wanted.defaultBranch)
  if ((await findRepository(db, owner.name, name)) !== undefined) {
    throw new Failure('conflict', NAME_TAKEN)
  }
  const storage = newStorageKey()
  const path = repositoryPath(settings.data.dir, storage)
  const hasCommit = await makeFolder(context, path, { ...wanted, name, defaultBranch })
  const row = {
    ownerId: owner.id,
    name,
    storage,
    description,
    website: '',
    isPrivate,
    isTemplate: false,
    isEmpty: !hasCommit,
    defaultBranch,
    preferences: {},
    objectFormat: template.objectFormat,
    watcherId: owner.kind === 'organization' ? creator.id : undefined,
  }
  const options = { templateId: template.id, hasContent, hasTopics, hasLabels }
  const created = await createFromTemplate(db, row, options).catch(async (error: unknown) => {
    await removeRepository(path)
    throw error
  })
  await context.events.publish({ kind: 'repository_created', repository: created, actor: creator })
  if (hasCommit) await applyPushEffects(context, created, path)
  return (await findRepository(db, owner.name, name)) ?? created
}

/** Creates the folder. Returns true if it has a commit: the template may be empty. */
async function makeFolder(
  context: Context,
  path: string,
  { template, owner, name, creator, defaultBranch, hasContent, signal }: WantedCopy,
): Promise<boolean> {
  const { git, settings, queue } = context
  const { objectFormat } = template
  const marker = markerOf({ owner, name })
  const source = repositoryPathOf({ settings }, template)
  const tree = hasContent ? await treeOf(context, source, template.defaultBranch) : undefined
  if (tree === undefined) {
    await initRepository(git, path, { defaultBranch, objectFormat, marker })
    return false
  }
  const { fullName, email } = creator
  const author = { name: fullName || creator.name, email, atMs: Date.now(), offsetMinutes: 0 }
  const leave = await queue.enter(signal, { repository: source, client: `user ${creator.id}` })
  try {
    await generateRepository(git, path, {
      source,
      tree,
      author,
      message: 'Initial commit',
      signal,
      defaultBranch,
      objectFormat,
      marker,
    })
  } finally {
    leave()
  }
  return true
}

async function treeOf(
  { git }: Context,
  source: string,
  branch: string,
): Promise<string | undefined> {
  return await withObjects(git, source, async (objects) => {
    const found = await objects.read(`refs/heads/${branch}^{tree}`, 0)
    return found?.type === 'tree' ? found.id : undefined
  })
}
