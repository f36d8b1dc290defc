/** The tag of a release: the one that is there, or one that is made where it shall be. */

import { withJournalEntry } from '../../../cgi/maintenance/at-work.js'
import { withObjects } from '../../../cgi/objects/objects.js'
import { writeTag } from '../../../cgi/objects/write-objects.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { changeReferences } from './references-moved.js'

export interface WantedTag {
  readonly repository: Repository
  /** Checked: without `refs/tags/`. */
  readonly name: string
  /** The branch, tag or commit that it shall lead to. */
  readonly target: string
  /** Empty: a lightweight one. */
  readonly message: string
  readonly tagger: User
}

/**
 * Makes the tag, unless there is one of that name. Throws `not_found` when there is nothing to put
 * it on, and `conflict` when somebody else makes one at this moment.
 */
export async function makeTag(context: Context, tag: WantedTag): Promise<void> {
  const { repository, name, target } = tag
  const path = repositoryPathOf(context, repository)
  const reference = `refs/tags/${name}`
  const commitId = await withObjects(context.git, path, async (objects) => {
    if ((await objects.read(reference, 0)) !== undefined) return undefined
    const revision = await findRevision(objects, target)
    if (revision === undefined) throw new Failure('not_found', `target "${target}" not found`)
    return revision.commitId
  })
  if (commitId === undefined) return
  await withJournalEntry(context.journal, path, async () => {
    const isLight = tag.message === ''
    const after = isLight ? commitId : await annotate(context, path, { ...tag, commitId })
    const changes = [{ name: reference, before: undefined, after }]
    await changeReferences(context, { repository, path, pusher: tag.tagger, changes })
  })
}

async function annotate(
  { git }: Context,
  path: string,
  { name, message, tagger, commitId }: WantedTag & { readonly commitId: string },
): Promise<string> {
  return await writeTag(git, path, {
    object: commitId,
    type: 'commit',
    name,
    message,
    tagger: {
      name: tagger.fullName || tagger.name,
      email: tagger.email,
      atMs: Date.now(),
      offsetMinutes: 0,
    },
  })
}

/** Throws `invalid` where there is no commit that anything could be a release of. */
export async function refuseEmpty(context: Context, repository: Repository): Promise<void> {
  if (!repository.isEmpty) return
  const path = repositoryPathOf(context, repository)
  if (await isEmptyRepository(path)) throw new Failure('invalid', 'repo is empty')
}
