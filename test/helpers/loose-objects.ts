/** Loose Git objects and refs written without a process, for repositories with SHA-1. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'

export interface LooseCommit {
  /** Ids of the blobs, by name; all are in one folder. */
  readonly files: ReadonlyMap<string, string>
  readonly parent: string | undefined
  readonly message: string
}

/** Writes a blob to the Git folders and returns its id. */
export async function writeBlob(folders: readonly string[], content: string): Promise<string> {
  return await writeObject(folders, 'blob', Buffer.from(content))
}

/** Writes a commit of Ada and its tree to the Git folders, and returns the commit's id. */
export async function writeCommit(
  folders: readonly string[],
  { files, parent, message }: LooseCommit,
): Promise<string> {
  const entries = [...files].map(([name, id]) => ({ name: Buffer.from(name), id }))
  const sorted = entries.sort((one, other) => one.name.compare(other.name))
  const lines = sorted.flatMap(({ name, id }) => [
    Buffer.from('100644 '),
    name,
    Buffer.of(0),
    Buffer.from(id, 'hex'),
  ])
  const tree = await writeObject(folders, 'tree', Buffer.concat(lines))
  const person = `Ada <ada@example.com> ${Math.floor(Date.now() / 1_000)} +0000`
  const parents = parent === undefined ? '' : `parent ${parent}\n`
  const text = `tree ${tree}\n${parents}author ${person}\ncommitter ${person}\n\n${message}`
  return await writeObject(folders, 'commit', Buffer.from(text))
}

/** Moves a branch in the Git folders, as a forced push does. */
export async function moveBranch(
  folders: readonly string[],
  branch: string,
  commit: string,
): Promise<void> {
  for (const folder of folders) {
    const file = join(folder, 'refs/heads', branch)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${commit}\n`)
  }
}

async function writeObject(
  folders: readonly string[],
  type: string,
  content: Buffer,
): Promise<string> {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  const id = createHash('sha1').update(bytes).digest('hex')
  const packed = deflateSync(bytes, { level: 1 })
  for (const folder of folders) {
    const file = join(folder, 'objects', id.slice(0, 2), id.slice(2))
    if (existsSync(file)) continue
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, packed, { mode: 0o444 })
  }
  return id
}
