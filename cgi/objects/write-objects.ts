/** Writes Git objects, flushed to disk. Clients see them once a ref reaches them. */

import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isTreeName } from '../../conf/file-path.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import { type Git, runGit } from '../process/git.js'
import { syncObject } from '../repository/durable.js'
import { withQuarantine } from '../repository/quarantine.js'
import type { Signature } from './commit-object.js'
import { modeOf, type TreeEntry } from './tree.js'

/** An entry of a tree that is written. */
export interface NewTreeEntry {
  readonly mode: TreeEntry['mode']
  /** A Buffer if the name was read from a tree, because it may not be UTF-8. */
  readonly name: string | Buffer
  readonly id: string
}

export interface NewCommit {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

export interface NewTag {
  /** Id of the tagged object. */
  readonly object: string
  readonly type: 'commit' | 'tree' | 'blob' | 'tag'
  /** A validated name, without `refs/tags/`. */
  readonly name: string
  readonly tagger: Signature
  readonly message: string
}

/** Writes the content of a file and returns its id. */
export function writeBlob(git: Git, path: string, content: string | Uint8Array): Promise<string> {
  return write(git, path, { args: ['hash-object', '-w', '--stdin'], input: content })
}

/**
 * Writes a tree and returns its id. The entries may be in any order. Callers must have checked the
 * names: throws an Error if one leads out of its folder or equals `.git` on some system.
 */
export async function writeTree(
  git: Git,
  path: string,
  entries: readonly NewTreeEntry[],
): Promise<string> {
  const lines = entries.map(({ mode, name, id }) => {
    if (!isTreeName(name.toString())) throw new Error('a name of a tree entry is unsafe')
    return Buffer.concat([Buffer.from(`${mode} ${typeOf(mode)} ${id}\t`), Buffer.from(name), NUL])
  })
  return await write(git, path, { args: ['mktree', '-z'], input: Buffer.concat(lines) })
}

/** Writes a commit and returns its id. Its tree and parents must exist. */
export function writeCommit(git: Git, path: string, commit: NewCommit): Promise<string> {
  const { tree, parents, author, committer, message } = commit
  const head = [
    `tree ${tree}`,
    ...parents.map((id) => `parent ${id}`),
    `author ${signatureText(author)}`,
    `committer ${signatureText(committer)}`,
  ]
  return writeText(git, path, { type: 'commit', head, message })
}

/** Writes an annotated tag and returns its id. No ref is changed. */
export function writeTag(git: Git, path: string, tag: NewTag): Promise<string> {
  const { object, type, name, tagger, message } = tag
  const head = [
    `object ${object}`,
    `type ${type}`,
    `tag ${name}`,
    `tagger ${signatureText(tagger)}`,
  ]
  return writeText(git, path, { type: 'tag', head, message })
}

interface TextObject {
  readonly type: 'commit' | 'tag'
  readonly head: readonly string[]
  readonly message: string
}

function writeText(git: Git, path: string, { type, head, message }: TextObject): Promise<string> {
  return write(git, path, {
    args: ['hash-object', '-t', type, '-w', '--stdin'],
    input: `${head.join('\n')}\n\n${messageText(message)}`,
  })
}

const NUL = Buffer.of(0)

function typeOf(mode: string): string {
  const { kind } = modeOf(mode)
  if (kind === 'directory') return 'tree'
  return kind === 'submodule' ? 'commit' : 'blob'
}

/** Ends a message as git does. Removes NULs, which would end the message for some readers. */
function messageText(message: string): string {
  return `${message.replaceAll('\0', '').replaceAll('\r\n', '\n').trimEnd()}\n`
}

/** Formats a signature as `Ada <ada@example.com> 1700000000 +0100`. */
function signatureText({ name, email, atMs, offsetMinutes }: Signature): string {
  const seconds = Math.max(0, Math.floor(atMs / 1_000))
  const minutes = Math.abs(offsetMinutes)
  const digits = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, '0'),
  )
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${digits.join('')}`
  return `${identText(name) || 'unknown'} <${identText(email)}> ${seconds} ${offset}`
}

/** Removes the characters that would end a name or an address, as git does (ident.c). */
function identText(text: string): string {
  return text.replace(/[<>\u0000-\u001f\u007f]/g, '').trim()
}

interface Writing {
  readonly args: readonly string[]
  readonly input: string | Uint8Array
}

/** Writes an object through a quarantine, so that a failed git leaves no partial file. */
async function write(git: Git, path: string, { args, input }: Writing): Promise<string> {
  return await withQuarantine(path, async ({ folder, variables }) => {
    const options = { cwd: path, input, environment: variables }
    const id = (await runGit(git, args, options)).toString().trim()
    if (!(await moveObject(folder, { path, id }))) {
      // Git does not write an object that the repository has already.
      await runGit(git, ['cat-file', '-e', id], { cwd: path })
    }
    await syncObject(path, id)
    return id
  })
}

/** Moves a loose object out of the quarantine. Returns false if git did not write it. */
async function moveObject(
  quarantine: string,
  { path, id }: { readonly path: string; readonly id: string },
): Promise<boolean> {
  const [outer, inner] = [id.slice(0, 2), id.slice(2)]
  const written = join(quarantine, outer, inner)
  if ((await unlessMissing(stat(written))) === undefined) return false
  const folder = join(path, 'objects', outer)
  await mkdir(folder, { recursive: true })
  await rename(written, join(folder, inner))
  return true
}
