/** Changes of files over the API: create, update, delete one file, or several in one commit. */

import { Type } from 'typebox'
import { modeOf } from '../../../cgi/objects/tree.js'
import { Failure, isFailure } from '../../../conf/failures.js'
import { parseFilePath } from '../../../conf/file-path.js'
import { changeByPatch } from '../../actions/code/change-by-patch.js'
import {
  type ChangedFiles,
  changeFiles,
  type FileChanges,
  type WrittenFile,
} from '../../actions/code/change-files.js'
import { type Caller, inQueue } from '../../actions/code/git-queue.js'
import { commitVerification, fileCommitObject } from '../../objects/code/commit-json.js'
import { FILE_COMMIT_RESPONSE, VERIFICATION } from '../../objects/code/commit-schema.js'
import {
  CONTENTS_RESPONSE,
  type ContentsObject,
  contentsObject,
} from '../../objects/code/contents-object.js'
import { nullable } from '../../objects/schema.js'
import type { Context } from '../../request/context.js'
import { requiredBlob } from '../entity-tag.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import {
  CHANGE_FILES_OPTIONS,
  CREATE_FILE_OPTIONS,
  DELETE_FILE_OPTIONS,
  readContent,
  readFileChange,
  readFileChanges,
  UPDATE_FILE_OPTIONS,
} from './file-options.js'
import { writableOf } from './writable.js'

/**
 * Maximum size of a JSON body with files in base64: enough for a file of
 * `FILE_CONTENT_BYTES_MAX`. The body is in memory several times. Larger files can be pushed.
 */
export const FILES_JSON_BYTES_MAX = 16_777_216

const PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const ACCESS = { kind: 'repository', mode: 'write', changesGit: true } as const

const FILE_RESPONSE = Type.Object(
  {
    content: nullable(CONTENTS_RESPONSE),
    commit: FILE_COMMIT_RESPONSE,
    verification: VERIFICATION,
  },
  { $id: 'FileResponse' },
)

const FILE_DELETE_RESPONSE = Type.Object(
  {
    content: nullable(Type.Object({})),
    commit: FILE_COMMIT_RESPONSE,
    verification: VERIFICATION,
  },
  { $id: 'FileDeleteResponse' },
)

const FILES_RESPONSE = Type.Object(
  {
    files: Type.Array(nullable(CONTENTS_RESPONSE)),
    commit: FILE_COMMIT_RESPONSE,
    verification: VERIFICATION,
  },
  { $id: 'FilesResponse' },
)

const create = defineOperation({
  id: 'repoCreateFile',
  method: 'POST',
  path: '/repos/{owner}/{repo}/contents/{filepath...}',
  summary: 'Create a file in a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: { ...PARAMS, filepath: 'path of the file to create' },
  query: NO_QUERY,
  body: CREATE_FILE_OPTIONS,
  bodyBytesMax: FILES_JSON_BYTES_MAX,
  success: { status: 201, schema: FILE_RESPONSE },
  failures: [403, 404, 422, 423],
  async handle(context, { request, grant, params, body }) {
    const names = parseFilePath(params['filepath'] ?? '')
    const content = readContent(body.content)
    const wanted = readFileChanges(writableOf(context, grant), body, [
      { operation: 'create', names, content },
    ])
    return jsonReply(201, await changeOneFile(context, { request, grant }, wanted))
  },
})

const update = defineOperation({
  id: 'repoUpdateFile',
  method: 'PUT',
  path: '/repos/{owner}/{repo}/contents/{filepath...}',
  summary: 'Update a file in a repository, or create it where no sha is given',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: { ...PARAMS, filepath: 'path of the file to update' },
  query: NO_QUERY,
  body: UPDATE_FILE_OPTIONS,
  bodyBytesMax: FILES_JSON_BYTES_MAX,
  success: { status: 200, schema: FILE_RESPONSE },
  failures: [403, 404, 422, 423],
  async handle(context, { request, grant, params, body }) {
    const required = body.sha ? undefined : requiredBlob(request.headers)
    const wanted = readFileChanges(writableOf(context, grant), body, [
      {
        operation: 'put',
        names: parseFilePath(params['filepath'] ?? ''),
        fromNames: body.from_path ? parseFilePath(body.from_path) : undefined,
        sha: body.sha || required,
        isCondition: required !== undefined,
        content: readContent(body.content),
      },
    ])
    return jsonReply(200, await changeOneFile(context, { request, grant }, wanted))
  },
})

const remove = defineOperation({
  id: 'repoDeleteFile',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/contents/{filepath...}',
  summary: 'Delete a file in a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: { ...PARAMS, filepath: 'path of the file to delete' },
  query: NO_QUERY,
  body: DELETE_FILE_OPTIONS,
  success: { status: 200, schema: FILE_DELETE_RESPONSE },
  failures: [400, 403, 404, 422, 423],
  async handle(context, { request, grant, params, body }) {
    const names = parseFilePath(params['filepath'] ?? '')
    const wanted = readFileChanges(writableOf(context, grant), body, [
      { operation: 'delete', names, sha: body.sha },
    ])
    return jsonReply(
      200,
      await changeOneFile(context, { request, grant }, wanted).catch(refuseAsBadRequest),
    )
  },
})

/** Rethrows `invalid` as `bad_request`, the status that clients of this operation expect. */
function refuseAsBadRequest(error: unknown): never {
  if (isFailure(error, 'invalid')) throw new Failure('bad_request', error.message)
  throw error
}

const changeSeveral = defineOperation({
  id: 'repoChangeFiles',
  method: 'POST',
  path: '/repos/{owner}/{repo}/contents',
  summary: 'Modify multiple files in a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: PARAMS,
  query: NO_QUERY,
  body: CHANGE_FILES_OPTIONS,
  bodyBytesMax: FILES_JSON_BYTES_MAX,
  success: { status: 201, schema: FILES_RESPONSE },
  failures: [403, 404, 422, 423],
  async handle(context, { request, grant, body }) {
    const writable = writableOf(context, grant)
    const wanted = readFileChanges(writable, body, body.files.map(readFileChange))
    const changed = await changeInQueue(context, { request, grant }, wanted)
    const files = changed.files.map((file) => contentsOf(context, { wanted, changed, file }))
    return jsonReply(201, { files, ...(await commitParts(context, wanted, changed)) })
  },
})

const applyDiff = defineOperation({
  id: 'repoApplyDiffPatch',
  method: 'POST',
  path: '/repos/{owner}/{repo}/diffpatch',
  summary: 'Apply diff patch to repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: PARAMS,
  query: NO_QUERY,
  // `content` is the patch as text, not in base64.
  body: UPDATE_FILE_OPTIONS,
  bodyBytesMax: FILES_JSON_BYTES_MAX,
  success: { status: 201, schema: FILE_RESPONSE },
  failures: [403, 404, 413, 422, 423],
  async handle(context, { request, grant, body }) {
    const options = { ...body, message: body.message || 'apply-patch' }
    const wanted = readFileChanges(writableOf(context, grant), options, [])
    const changed = await inQueue(context, { request, grant }, () =>
      changeByPatch(context, wanted, body.content),
    )
    return jsonReply(201, { content: null, ...(await commitParts(context, wanted, changed)) })
  },
})

/** Changes one file in one commit, and returns its FileResponse. */
async function changeOneFile(context: Context, caller: Caller, wanted: FileChanges) {
  const changed = await changeInQueue(context, caller, wanted)
  const content = contentsOf(context, { wanted, changed, file: changed.files[0] })
  return { content, ...(await commitParts(context, wanted, changed)) }
}

/**
 * Commits the changes in a slot of the git process queue, because git runs once for each file and
 * for each of its folders.
 */
function changeInQueue(
  context: Context,
  caller: Caller,
  wanted: FileChanges,
): Promise<ChangedFiles> {
  return inQueue(context, caller, () => changeFiles(context, wanted))
}

async function commitParts(
  context: Context,
  { repository, user }: FileChanges,
  { commit }: ChangedFiles,
) {
  return {
    commit: fileCommitObject(context, repository, commit),
    verification: await commitVerification(context, { repository, user }, commit),
  }
}

interface Changed {
  readonly wanted: FileChanges
  readonly changed: ChangedFiles
  readonly file: WrittenFile | undefined
}

/** Returns the ContentsResponse of a written file, or null if the file was deleted. */
function contentsOf(context: Context, { wanted, changed, file }: Changed): ContentsObject | null {
  if (file === undefined) return null
  const commitId = changed.commit.id
  return contentsObject(context, wanted.repository, {
    revision: { kind: 'branch', shortName: wanted.newBranch, commitId },
    path: file.names.join('/'),
    entry: { id: file.entry.id, kind: modeOf(file.entry.mode).kind },
    sizeBytes: file.sizeBytes,
    lastCommit: changed.commit,
    content: file.content,
  })
}

export const FILE_CHANGE_OPERATIONS: readonly AnyOperation[] = [
  create,
  update,
  remove,
  changeSeveral,
  applyDiff,
]
