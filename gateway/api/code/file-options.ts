/** Bodies that change files: the files, the author and committer, and the branch. */

import { type Static, Type } from 'typebox'
import type { Signature } from '../../../cgi/objects/commit-object.js'
import { Failure } from '../../../conf/failures.js'
import { parseFilePath } from '../../../conf/file-path.js'
import { parseBranchName } from '../../../conf/names.js'
import type { User } from '../../../sql/accounts/users.js'
import type { FileChange, FileChanges } from '../../actions/code/change-files.js'
import { TIME } from '../../objects/schema.js'
import type { Writable } from './writable.js'

/** Maximum number of files that a request changes. Each needs a git process. */
const FILES_CHANGED_MAX = 1_000

/**
 * The address has no format in the schema, because clients send empty strings for omitted fields.
 */
const IDENTITY = Type.Object(
  {
    name: Type.Optional(Type.String({ maxLength: 100 })),
    email: Type.Optional(Type.String({ maxLength: 254 })),
  },
  { $id: 'Identity' },
)

const COMMIT_DATE_OPTIONS = Type.Object(
  { author: Type.Optional(TIME), committer: Type.Optional(TIME) },
  { $id: 'CommitDateOptions' },
)

const MESSAGE_CHARACTERS_MAX = 65_536

const COMMIT_OPTIONS = {
  message: Type.Optional(Type.String({ maxLength: MESSAGE_CHARACTERS_MAX })),
  branch: Type.Optional(Type.String({ maxLength: 100 })),
  new_branch: Type.Optional(Type.String({ maxLength: 100 })),
  author: Type.Optional(IDENTITY),
  committer: Type.Optional(IDENTITY),
  dates: Type.Optional(COMMIT_DATE_OPTIONS),
  signoff: Type.Optional(Type.Boolean()),
}

export const CREATE_FILE_OPTIONS = Type.Object(
  { ...COMMIT_OPTIONS, content: Type.String() },
  { $id: 'CreateFileOptions' },
)

export const UPDATE_FILE_OPTIONS = Type.Object(
  {
    ...COMMIT_OPTIONS,
    content: Type.String(),
    sha: Type.Optional(Type.String()),
    from_path: Type.Optional(Type.String()),
  },
  { $id: 'UpdateFileOptions' },
)

export const DELETE_FILE_OPTIONS = Type.Object(
  { ...COMMIT_OPTIONS, sha: Type.String({ minLength: 1 }) },
  { $id: 'DeleteFileOptions' },
)

const CHANGE_FILE_OPERATION = Type.Object(
  {
    operation: Type.Enum(['create', 'update', 'delete']),
    path: Type.String({ minLength: 1 }),
    content: Type.Optional(Type.String()),
    sha: Type.Optional(Type.String()),
    from_path: Type.Optional(Type.String()),
  },
  { $id: 'ChangeFileOperation' },
)

export const CHANGE_FILES_OPTIONS = Type.Object(
  {
    ...COMMIT_OPTIONS,
    files: Type.Array(CHANGE_FILE_OPERATION, { minItems: 1, maxItems: FILES_CHANGED_MAX }),
  },
  { $id: 'ChangeFilesOptions' },
)

export type FileOperation = Static<typeof CHANGE_FILE_OPERATION>
type CommitOptions = Static<ReturnType<typeof Type.Object<typeof COMMIT_OPTIONS>>>

/**
 * Reads the change of one of several files. Throws `invalid` if a path is not valid or the content
 * is not base64.
 */
export function readFileChange(file: FileOperation): FileChange {
  const { operation, content } = file
  const change = {
    operation,
    names: parseFilePath(file.path),
    fromNames: file.from_path ? parseFilePath(file.from_path) : undefined,
    sha: file.sha || undefined,
  }
  if (operation !== 'create' && change.sha === undefined) {
    throw new Failure('invalid', `a SHA must be provided when changing a file: ${file.path}`)
  }
  if (operation === 'delete') return { ...change, fromNames: undefined }
  // A renamed file keeps its content if none was sent.
  const isKept = content === undefined && change.fromNames !== undefined
  return { ...change, content: isKept ? undefined : readContent(content ?? '') }
}

/** Decodes standard base64, which may contain line breaks. Throws `invalid` for anything else. */
export function readContent(text: string): Buffer {
  const packed = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, '') : text
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
    throw new Failure('invalid', 'content is not base64')
  }
  return Buffer.from(packed, 'base64')
}

/** Reads the commit that the options describe. Throws `invalid` if a branch name is not valid. */
export function readFileChanges(
  { repository, path, user }: Writable,
  options: CommitOptions,
  changes: readonly FileChange[],
): FileChanges {
  const branch = parseBranchName(options.branch || repository.defaultBranch)
  const { author, committer } = signaturesOf(user, options)
  const message = options.message?.trim() || defaultMessage(changes)
  const trailer = `\n\nSigned-off-by: ${committer.name} <${committer.email}>`
  return {
    repository,
    path,
    user,
    branch,
    changes,
    author,
    committer,
    newBranch: parseBranchName(options.new_branch || branch),
    message: options.signoff ? message + trailer : message,
  }
}

type Person = Pick<Signature, 'name' | 'email'>

/**
 * Returns author and committer. If only one of them is named, it is used for both; if neither is
 * named, the caller is.
 */
function signaturesOf(
  user: User,
  { author, committer, dates }: CommitOptions,
): { readonly author: Signature; readonly committer: Signature } {
  const self = { name: user.fullName || user.name, email: user.email }
  const written = personOf(author, self)
  const committed = personOf(committer, self)
  return {
    author: { ...(written ?? committed ?? self), ...instantOf(dates?.author) },
    committer: { ...(committed ?? written ?? self), ...instantOf(dates?.committer) },
  }
}

function personOf(identity: CommitOptions['author'], self: Person): Person | undefined {
  if (!identity?.name && !identity?.email) return undefined
  return { name: identity.name || self.name, email: identity.email || self.email }
}

/**
 * Returns a time and its UTC offset. A missing time, and the zero time that Go clients send for
 * none, mean the current time.
 */
function instantOf(text: string | undefined): Pick<Signature, 'atMs' | 'offsetMinutes'> {
  const atMs = text === undefined ? 0 : Date.parse(text)
  if (text === undefined || !(atMs > 0)) return { atMs: Date.now(), offsetMinutes: 0 }
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? []
  const east = Number(hours) * 60 + Number(minutes)
  return { atMs, offsetMinutes: sign === '-' ? -east : east }
}

const VERBS = { create: 'Add', put: 'Add', update: 'Update', delete: 'Delete' } as const

/** Returns the default message: `Add a, b`, and a line for each other kind of change. */
function defaultMessage(changes: readonly FileChange[]): string {
  const lines = new Map<string, string[]>()
  for (const { operation, names, sha } of changes) {
    const verb = operation === 'put' && sha !== undefined ? 'Update' : VERBS[operation]
    lines.set(verb, [...(lines.get(verb) ?? []), names.join('/')])
  }
  return [...lines].map(([verb, paths]) => `${verb} ${paths.join(', ')}`).join('\n')
}
