/** Changes of branches over the API: create, rename, delete. */

import { Type } from 'typebox'
import { parseCommit } from '../../../cgi/objects/commit-object.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { NAME_CONFLICT, type ReferenceChange } from '../../../cgi/refs/references.js'
import { findRevision, type Revision } from '../../../cgi/refs/revision.js'
import { isEmptyRepository, setDefaultBranch } from '../../../cgi/repository/repository.js'
import { Failure, isFailure } from '../../../conf/failures.js'
import { isReferenceName, parseBranchName } from '../../../conf/names.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { updateRepository } from '../../../sql/repositories/repositories.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { refuseMoves } from '../../actions/code/ref-judge.js'
import { changeReferences } from '../../actions/code/references-moved.js'
import { BRANCH, branchObjects } from '../../objects/code/branch-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { type Writable, writableOf } from './writable.js'

const PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const ACCESS = { kind: 'repository', mode: 'write', changesGit: true } as const
const PREFIX = 'refs/heads/'

const CREATE_BRANCH_OPTION = Type.Object(
  {
    new_branch_name: Type.String({ minLength: 1, maxLength: 100 }),
    old_ref_name: Type.Optional(Type.String()),
    old_branch_name: Type.Optional(Type.String()),
  },
  { $id: 'CreateBranchRepoOption' },
)

const UPDATE_BRANCH_OPTION = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }) },
  { $id: 'UpdateBranchRepoOption' },
)

const create = defineOperation({
  id: 'repoCreateBranch',
  method: 'POST',
  path: '/repos/{owner}/{repo}/branches',
  summary: 'Create a branch',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: PARAMS,
  query: NO_QUERY,
  body: CREATE_BRANCH_OPTION,
  success: { status: 201, schema: BRANCH },
  failures: [403, 404, 409, 422, 423],
  async handle(context, { request, grant, body }) {
    return inQueue(context, { request, grant }, async () => {
      const writable = writableOf(context, grant)
      const name = parseBranchName(body.new_branch_name)
      if (await isEmptyRepository(writable.path)) throw isEmpty()
      const [branch] = await withObjects(context.git, writable.path, async (objects) => {
        const start = await startOf(objects, writable, body)
        if (start === undefined) throw new Failure('not_found', 'The old branch does not exist')
        if ((await objects.read(`refs/tags/${name}`)) !== undefined) {
          throw new Failure('conflict', 'The branch with the same tag already exists.')
        }
        const change = { name: PREFIX + name, before: undefined, after: start.commitId }
        await moveBranches(context, writable, [change]).catch(refuseTaken)
        const { id, content } = (await objects.read(start.commitId)) ?? {}
        if (id === undefined || content === undefined)
          throw new Error('the start commit of the new branch is missing')
        const commit = parseCommit(id, content)
        return await branchObjects(context, grant, [{ name, commit }])
      })
      return jsonReply(201, branch)
    })
  },
})

/** Returns the revision at which the new branch starts, or undefined if it does not exist. */
async function startOf(
  objects: ObjectReader,
  { repository }: Writable,
  { old_ref_name, old_branch_name }: Type.Static<typeof CREATE_BRANCH_OPTION>,
): Promise<Revision | undefined> {
  if (old_ref_name) return await findRevision(objects, old_ref_name)
  const branch = old_branch_name || repository.defaultBranch
  return isReferenceName(branch) ? await findRevision(objects, PREFIX + branch) : undefined
}

function isEmpty(): Failure {
  return new Failure('not_found', 'Git Repository is empty.')
}

function refuseTaken(error: unknown): never {
  if (!isFailure(error, 'conflict')) throw error
  const isPrefix = error.message === NAME_CONFLICT
  const message = isPrefix
    ? 'The branch with the same name already exists.'
    : 'The branch already exists.'
  throw new Failure('conflict', message, { cause: error })
}

function moveBranches(
  context: Context,
  { repository, path, user }: Writable,
  changes: readonly ReferenceChange[],
): Promise<void> {
  return changeReferences(context, { repository, path, pusher: user, changes })
}

const rename = defineOperation({
  id: 'repoRenameBranch',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/branches/{branch...}',
  summary: 'Rename a branch',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: { ...PARAMS, branch: 'name of the branch' },
  query: NO_QUERY,
  body: UPDATE_BRANCH_OPTION,
  success: { status: 204, schema: null },
  failures: [403, 404, 409, 422, 423],
  async handle(context, { request, grant, params, body }) {
    return inQueue(context, { request, grant }, async () => {
      const writable = writableOf(context, grant)
      const from = params['branch'] ?? ''
      const to = parseBranchName(body.name)
      const before = await withObjects(context.git, writable.path, (objects) =>
        tipOf(objects, from),
      )
      if (from === to) throw isTaken()
      const isDefault = from === writable.repository.defaultBranch
      if (isDefault && !atLeast(grant.mode, 'admin')) {
        throw new Failure(
          'forbidden',
          'User must be a repo or site admin to rename default branches.',
        )
      }
      const added = { name: PREFIX + to, before: undefined, after: before }
      const removed = { name: PREFIX + from, before, after: undefined }
      const { repository, path, user } = writable
      // The default branch is renamed in two steps, so both are authorized before the first.
      await refuseMoves(context, { repository, path, pusher: user, changes: [added, removed] })
      const first = isDefault ? [added] : [added, removed]
      await moveBranches(context, writable, first).catch((error: unknown) => {
        if (!isFailure(error, 'conflict')) throw error
        throw isTaken()
      })
      if (isDefault) {
        // The default branch is switched after the new branch is created and before the old one is
        // deleted, so that it always exists.
        await setDefaultBranch(context.git, writable.path, to)
        await updateRepository(context.db, writable.repository.id, { defaultBranch: to })
        await moveBranches(context, writable, [removed])
      }
      return { status: 204 }
    })
  },
})

function isTaken(): Failure {
  return new Failure('invalid', 'Cannot rename a branch to one that already exists.')
}

/** Returns the id of a branch's tip. Throws `not_found`. */
async function tipOf(objects: ObjectReader, branch: string): Promise<string> {
  const found = isReferenceName(branch) ? await objects.read(PREFIX + branch) : undefined
  if (found === undefined) throw new Failure('not_found', "Branch doesn't exist.")
  return found.id
}

/** Maximum attempts to delete a branch; an attempt fails if a concurrent push moves the branch. */
const TRIES_MAX = 5

const remove = defineOperation({
  id: 'repoDeleteBranch',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/branches/{branch...}',
  summary: 'Delete a specific branch from a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: { ...PARAMS, branch: 'branch to delete' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 409, 423],
  async handle(context, { request, grant, params }) {
    return inQueue(context, { request, grant }, async () => {
      const writable = writableOf(context, grant)
      const branch = params['branch'] ?? ''
      for (let tries = 1; ; tries += 1) {
        const before = await withObjects(context.git, writable.path, (objects) =>
          tipOf(objects, branch),
        )
        if (branch === writable.repository.defaultBranch) {
          throw new Failure('forbidden', 'can not delete default branch')
        }
        try {
          await moveBranches(context, writable, [
            { name: PREFIX + branch, before, after: undefined },
          ])
          return { status: 204 }
        } catch (error) {
          if (!isFailure(error, 'conflict') || tries === TRIES_MAX) throw error
        }
      }
    })
  },
})

export const BRANCH_CHANGE_OPERATIONS: readonly AnyOperation[] = [create, rename, remove]
