/** Writing Git's objects: on the disk when it settles, seen when a reference leads there. */

import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/disk.js'
import { isTreeName } from '../../conf/file-path.js'
import { type Git, runGit } from '../process/git.js'
import { syncObject } from '../repository/durable.js'
import { withQuarantine } from '../repository/quarantine.js'
import type { Signature } from './commit-object.js'
import { modeOf, type TreeEntry } from './tree.js'

/** One line of a tree that is to be. */
export interface NewTreeEntry {
  readonly mode: TreeEntry['mode']
  /** Its bytes where it was read from a tree: they need not be UTF-8. */
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
  /** What it points at. */
  readonly object: string
  readonly type: 'commit' | 'tree' | 'blob' | 'tag'
  /** Checked: without `refs/tags/`. */
  readonly name: string
  readonly tagger: Signature
  readonly message: string
}

/** Keeps the content of a file. Returns its id. */
export function writeBlob(git: Git, path: string, content: string | Uint8Array): Promise<string> {
  return write(git, path, { args: ['hash-object', '-w', '--stdin'], input: content })
}

/**
 * Keeps a tree of entries, in whatever order they are given. Returns its id. Throws where a name
 * would leave its folder, or be `.git` on some system: that is checked before.
 */
export async function writeTree(
  git: Git,
  path: string,
  entries: readonly NewTreeEntry[],
): Promise<string> {
  const lines = entries.map(({ mode, name, id }) => {
    if (!isTreeName(name.toString())) throw new Error('names of files are checked before')
    return Buffer.concat([Buffer.from(`${mode} ${typeOf(mode)} ${id}\t`), Buffer.from(name), NUL])
  })
  return await write(git, path, { args: ['mktree', '-z'], input: Buffer.concat(lines) })
}

/** Keeps a commit. Returns its id. Its tree and its parents are there. */
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

/** Keeps an annotated tag, which no reference names yet. Returns its id. */
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

/** As git itself ends a message; a NUL would end it for some readers and not for others. */
function messageText(message: string): string {
  return `${message.replaceAll('\0', '').replaceAll('\r\n', '\n').trimEnd()}\n`
}

/** `Ada <ada@example.com> 1700000000 +0100` */
function signatureText({ name, email, atMs, offsetMinutes }: Signature): string {
  const seconds = Math.max(0, Math.floor(atMs / 1_000))
  const minutes = Math.abs(offsetMinutes)
  const digits = [Math.floor(minutes / 60), minutes % 60].map((part) =>
    String(part).padStart(2, '0'),
  )
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${digits.join('')}`
  return `${identText(name) || 'unknown'} <${identText(email)}> ${seconds} ${offset}`
}

/** Git's own rule (ident.c): what would end a name or an address is left out. */
function identText(text: string): string {
  return text.replace(/[<>\u0000-\u001f\u007f]/g, '').trim()
}

interface Writing {
  readonly args: readonly string[]
  readonly input: string | Uint8Array
}

/** A git that fails leaves its half-written file in the quarantine, and goes with that. */
async function write(git: Git, path: string, { args, input }: Writing): Promise<string> {
  return await withQuarantine(path, async ({ folder, variables }) => {
    const options = { cwd: path, input, environment: variables }
    const id = (await runGit(git, args, options)).toString().trim()
    if (!(await moveObject(folder, { path, id }))) {
      // Git writes no object that the repository has.
      await runGit(git, ['cat-file', '-e', id], { cwd: path })
    }
    await syncObject(path, id)
    return id
  })
}

/** Moves a loose object to its place. Returns false where it was not written. */
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
