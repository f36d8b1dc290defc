/** Changes of wiki pages, each of which is a commit on the wiki's branch. */

import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { Failure, isFailure, notFound } from '../../../conf/failures.js'
import { parseWikiTitle, type WikiName, wikiNameOf } from '../../../conf/wiki-name.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { wikiOf } from '../../../sql/repositories/wikis.js'
import type { Context } from '../../request/context.js'
import type { WikiChanged } from '../../request/events.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { actingUserOf } from '../code/acting-user.js'
import { changeFiles, type FileChange } from '../code/change-files.js'
import { type Caller, inQueue } from '../code/git-queue.js'
import { type FoundPage, findWikiBranch, findWikiPage } from './read-wiki.js'
import { createWiki, requireWiki } from './wiki-folder.js'

/** New content of a page. */
export interface WikiPageInput {
  readonly title: string
  readonly content: Buffer
  /** Message of the commit; empty for the default one. */
  readonly message: string
}

/** Creates a page. Throws `bad_request` for a title that is not permitted or exists. */
export async function addWikiPage(
  context: Context,
  caller: Caller,
  input: WikiPageInput,
): Promise<WikiName> {
  const name = parseWikiTitle(input.title)
  const message = input.message || `Add ${JSON.stringify(input.title)}`
  await change(context, caller, async (find) => {
    if ((await find(name)) !== undefined) throw alreadyExists(name)
    const { content } = input
    const edit = { operation: 'create', names: [name.file], content } as const
    return { edit, action: 'created', name, message }
  })
  return name
}

/**
 * Changes the page of a path segment, and renames it if the title differs. As in Gitea, a page that
 * does not exist is created. Throws `bad_request` for a title that is not permitted or exists.
 */
export async function editWikiPage(
  context: Context,
  caller: Caller,
  { segment, ...input }: WikiPageInput & { readonly segment: string },
): Promise<WikiName> {
  const before = wikiNameOf(segment)
  const wanted = parseWikiTitle(input.title || before.title)
  const isRenamed = input.title !== '' && wanted.title !== before.title
  const message = input.message || `Update ${JSON.stringify(wanted.segment)}`
  await change(context, caller, async (find) => {
    const found = await find(before)
    const target = found === undefined || isRenamed ? wanted.file : found.file
    const edit = {
      operation: 'put',
      names: target.split('/'),
      fromNames: found?.file.split('/'),
      content: input.content,
    } as const
    return { edit, action: 'edited', name: wanted, message }
  })
  return isRenamed ? wanted : before
}

/** Deletes the page of a path segment. Throws `not_found` if there is none. */
export async function removeWikiPage(
  context: Context,
  caller: Caller,
  segment: string,
): Promise<void> {
  const name = wikiNameOf(segment)
  await requireWiki(context, wikiOf(caller.grant.repository))
  await change(context, caller, async (find) => {
    const found = await find(name)
    if (found === undefined) throw notFound()
    const edit = { operation: 'delete', names: found.file.split('/') } as const
    return { edit, action: 'deleted', name, message: `Delete page ${JSON.stringify(name.segment)}` }
  })
}

interface Change {
  readonly edit: FileChange
  readonly action: WikiChanged['action']
  readonly name: WikiName
  readonly message: string
}

type Find = (name: WikiName) => Promise<FoundPage | undefined>

/** Commits the change that `plan` returns, and publishes it. */
async function change(
  context: Context,
  { request, grant }: Caller,
  plan: (find: Find) => Promise<Change>,
): Promise<void> {
  const user = actingUserOf(grant)
  const wiki = wikiOf(grant.repository)
  const caller = { request, grant: { ...grant, repository: wiki } }
  const planned = await inQueue(context, caller, async () => {
    await createWiki(context, wiki)
    return await commit(context, { wiki, user, plan })
  })
  const { action, name, message: comment } = planned
  const { repository } = grant
  const page = name.segment
  await context.events.publish({
    kind: 'wiki_changed',
    action,
    repository,
    actor: user,
    page,
    comment,
  })
}

interface Commit {
  readonly wiki: Repository
  readonly user: User
  readonly plan: (find: Find) => Promise<Change>
}

async function commit(context: Context, { wiki, user, plan }: Commit): Promise<Change> {
  const path = repositoryPathOf(context, wiki)
  const { branch, planned } = await withObjects(context.git, path, async (objects) => {
    const branch = await findWikiBranch({ objects, path })
    return { branch, planned: await plan(finderAt(objects, branch)) }
  })
  const author = {
    name: user.fullName || user.name,
    email: user.email,
    atMs: Date.now(),
    offsetMinutes: 0,
  }
  try {
    await changeFiles(context, {
      repository: { ...wiki, defaultBranch: branch },
      path,
      user,
      branch,
      newBranch: branch,
      changes: [planned.edit],
      author,
      committer: author,
      message: planned.message,
    })
  } catch (error) {
    if (isFailure(error, 'invalid')) throw alreadyExists(planned.name)
    throw error
  }
  return planned
}

function finderAt(objects: ObjectReader, branch: string): Find {
  return async (name) => {
    const tip = await objects.read(`refs/heads/${branch}^{commit}`)
    return tip && (await findWikiPage(objects, tip.id, name))
  }
}

function alreadyExists({ title }: WikiName): Failure {
  return new Failure('bad_request', `wiki page already exists [title: ${title}]`)
}
