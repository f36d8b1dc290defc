/** Changes of tags over the API: create and delete. */

import { Type } from 'typebox'
import { withJournalEntry } from '../../../cgi/maintenance/at-work.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { writeTag } from '../../../cgi/objects/write-objects.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { Failure, isFailure, notFound } from '../../../conf/failures.js'
import { isReferenceName } from '../../../conf/names.js'
import { findReleaseByTag } from '../../../sql/releases/releases.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { changeReferences } from '../../actions/code/references-moved.js'
import { TAG, tagObject } from '../../objects/code/tag-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { type Writable, writableOf } from './writable.js'

const PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const ACCESS = { kind: 'repository', mode: 'write', changesGit: true } as const
const PREFIX = 'refs/tags/'

/** Maximum length of a tag name in bytes; file names have at most 255, and git appends `.lock`. */
const NAME_BYTES_MAX = 200
const MESSAGE_CHARACTERS_MAX = 65_536

const CREATE_TAG_OPTION = Type.Object(
  {
    tag_name: Type.String({ minLength: 1 }),
    message: Type.Optional(Type.String({ maxLength: MESSAGE_CHARACTERS_MAX })),
    target: Type.Optional(Type.String()),
  },
  { $id: 'CreateTagOption' },
)

const create = defineOperation({
  id: 'repoCreateTag',
  method: 'POST',
  path: '/repos/{owner}/{repo}/tags',
  summary: 'Create a new git tag in a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: PARAMS,
  query: NO_QUERY,
  body: CREATE_TAG_OPTION,
  success: { status: 201, schema: TAG },
  failures: [403, 404, 409, 422, 423],
  async handle(context, { request, grant, body }) {
    return inQueue(context, { request, grant }, async () => {
      const writable = writableOf(context, grant)
      const name = body.tag_name
      if (!isReferenceName(name) || Buffer.byteLength(name) > NAME_BYTES_MAX) {
        throw new Failure('invalid', 'The tag name is not a valid Git reference name.')
      }
      const tag = await withObjects(context.git, writable.path, async (objects) => {
        const target = body.target || `refs/heads/${writable.repository.defaultBranch}`
        const revision = await findRevision(objects, target)
        if (revision === undefined) throw new Failure('not_found', 'target not found')
        const { commitId } = revision
        const message = body.message?.trim() ?? ''
        const id = await placeTag(context, writable, { name, message, commitId })
        const object = await objects.read(id)
        if (object === undefined) throw new Error('the created tag cannot be read')
        return tagObject(context, writable.repository, { name, object })
      })
      return jsonReply(201, tag)
    })
  },
})

/**
 * Creates the tag, annotated if there is a message. Returns the id of the object that the ref
 * names.
 */
function placeTag(context: Context, writable: Writable, tag: Annotation): Promise<string> {
  return withJournalEntry(context.journal, writable.path, async () => {
    const { name, message, commitId } = tag
    const id = message === '' ? commitId : await annotate(context, writable, tag)
    await moveTag(context, writable, { name, before: undefined, after: id }).catch(refuseTaken)
    return id
  })
}

interface Annotation {
  readonly name: string
  readonly message: string
  readonly commitId: string
}

function annotate(
  { git }: Context,
  { path, user }: Writable,
  { name, message, commitId }: Annotation,
): Promise<string> {
  const person = { name: user.fullName || user.name, email: user.email }
  const tagger = { ...person, atMs: Date.now(), offsetMinutes: 0 }
  return writeTag(git, path, { object: commitId, type: 'commit', name, tagger, message })
}

interface TagMove {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

function moveTag(
  context: Context,
  { repository, path, user }: Writable,
  { name, before, after }: TagMove,
): Promise<void> {
  const changes = [{ name: PREFIX + name, before, after }]
  return changeReferences(context, { repository, path, pusher: user, changes })
}

function refuseTaken(error: unknown): never {
  if (!isFailure(error, 'conflict')) throw error
  throw new Failure('conflict', 'tag exist', { cause: error })
}

const remove = defineOperation({
  id: 'repoDeleteTag',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/tags/{tag...}',
  summary: "Delete a repository's tag by name",
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: { ...PARAMS, tag: 'name of tag to delete' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 409, 423],
  async handle(context, { request, grant, params }) {
    return inQueue(context, { request, grant }, async () => {
      const writable = writableOf(context, grant)
      const name = params['tag'] ?? ''
      const release = await findReleaseByTag(context.db, writable.repository.id, name)
      if (release?.isDraft === false) throw new Failure('conflict', OF_RELEASE)
      const found = await withObjects(context.git, writable.path, async (objects) =>
        isReferenceName(name) ? await objects.read(PREFIX + name) : undefined,
      )
      if (found === undefined) throw notFound()
      await moveTag(context, writable, { name, before: found.id, after: undefined })
      return { status: 204 }
    })
  },
})

const OF_RELEASE = 'a tag attached to a release cannot be deleted directly'

export const TAG_CHANGE_OPERATIONS: readonly AnyOperation[] = [create, remove]
