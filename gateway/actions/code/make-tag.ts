/** Tags of releases, which are created unless they exist. */

import { withJournalEntry } from '../../../cgi/maintenance/at-work.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { writeTag } from '../../../cgi/objects/write-objects.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { type AccessMode, atLeast } from '../../../sql/repositories/access.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { changeReferences } from './references-moved.js'

export interface WantedTag {
  readonly repository: Repository
  /** Valid name, without `refs/tags/`. */
  readonly name: string
  /** Branch, tag or commit to tag. */
  readonly target: string
  /** Message of an annotated tag; empty for a lightweight one. */
  readonly message: string
  readonly tagger: User
  /** Access of the tagger to code. */
  readonly codeMode: AccessMode
}

/**
 * Creates the tag, unless one of that name exists. Throws `not_found` if the target is missing,
 * `conflict` if a concurrent request creates the tag first, and `forbidden` if the tagger cannot
 * write to code.
 */
export async function makeTag(context: Context, tag: WantedTag): Promise<void> {
  const { repository, name, target } = tag
  const path = repositoryPathOf(context, repository)
  const reference = `refs/tags/${name}`
  const commitId = await withObjects(context.git, path, async (objects) => {
    if ((await objects.read(reference, 0)) !== undefined) return undefined
    if (!atLeast(tag.codeMode, 'write')) {
      const message = `The tag ${name} does not exist, and you need write access to code to create it.`
      throw new Failure('forbidden', message)
    }
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

/** Throws `invalid` if the repository has no commits. */
export async function refuseEmpty(context: Context, repository: Repository): Promise<void> {
  if (!repository.isEmpty) return
  const path = repositoryPathOf(context, repository)
  if (await isEmptyRepository(path)) throw new Failure('invalid', 'repo is empty')
}
