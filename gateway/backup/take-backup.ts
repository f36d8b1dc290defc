/** Backup of a running site into a folder. */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { secretPath } from '../../conf/instance-secret.js'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'
import type { Settings } from '../../conf/settings.js'
import type { BlobStorage } from '../../registry/storage/storage.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database/database.js'
import { type PageReader, pagesOf } from '../../sql/database/page.js'
import { snapshotDatabase } from '../../sql/database/snapshot.js'
import { listBlobs } from '../../sql/packages/blobs.js'
import { listAllRepositories } from '../../sql/repositories/all-repositories.js'
import { wikiOf } from '../../sql/repositories/wikis.js'
import { inLanes } from '../check/in-lanes.js'
import { captureRepository } from './capture-repository.js'
import { withHold } from './hold.js'
import {
  BLOBS,
  DATABASE,
  FORMAT,
  MANIFEST,
  type Manifest,
  newSnapshotId,
  REPOSITORIES,
  removeIncomplete,
  SECRET,
  type Snapshot,
  sharedBlobPath,
  snapshotsFolder,
} from './layout.js'
import { underBackupLock } from './lock.js'
import { openSharedFiles, type SharedFiles } from './shared-files.js'

export interface BackupContext {
  readonly db: Database
  readonly storage: BlobStorage
  readonly settings: Pick<Settings, 'data' | 'database'>
}

/**
 * Adds a snapshot of the site to the folder, which is created if it does not exist. The database is
 * copied first, then the repositories and blobs that the copy names: stored data is never older
 * than the rows. If the signal aborts, the hold ends and the unfinished snapshot is removed before
 * the call rejects. A process that is killed leaves files that the next call removes. Throws an
 * Error if other accounts can read the folder, or if another process uses it.
 */
export async function takeBackup(
  context: BackupContext,
  target: string,
  signal: AbortSignal,
): Promise<Snapshot> {
  const dir = resolve(target)
  await makePrivate(dir)
  return await underBackupLock(dir, async () => {
    await removeIncomplete(dir)
    const id = newSnapshotId()
    const part = join(snapshotsFolder(dir), `${id}.part`)
    try {
      const manifest = await writeSnapshot(context, { dir, part, signal })
      await rename(part, join(snapshotsFolder(dir), id))
      await syncPath(snapshotsFolder(dir))
      return { id, manifest }
    } catch (error) {
      // SQLite may be writing into the folder until its thread ends.
      await rm(part, { recursive: true, force: true, maxRetries: 3 })
      throw error
    }
  })
}

async function writeSnapshot(
  context: BackupContext,
  { dir, part, signal }: Omit<Copying, 'files'>,
): Promise<Manifest> {
  await mkdir(join(part, 'incoming'), { recursive: true, mode: 0o700 })
  const files = openSharedFiles(dir, join(part, 'incoming'))
  const copied = await withHold(context.db, signal, (signal) =>
    copySite(context, { dir, part, files, signal }),
  )
  await files.flush()
  signal.throwIfAborted()
  await rm(join(part, 'incoming'), { recursive: true })
  return await writeManifest(part, copied)
}

/** The copy contains the secret key and all private repositories, so only its owner may read it. */
async function makePrivate(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const { mode } = await stat(dir)
  if ((mode & 0o077) === 0) return
  throw new Error(`other accounts can use ${dir}; run 'chmod 700 ${dir}' first`)
}

interface Copying {
  readonly dir: string
  /** Folder of the unfinished snapshot. */
  readonly part: string
  readonly files: SharedFiles
  readonly signal: AbortSignal
}

type Copied = Pick<Manifest, 'repositories' | 'blobs' | 'problems'>

async function copySite(context: BackupContext, copying: Copying): Promise<Copied> {
  const { data, database } = context.settings
  const file = join(copying.part, DATABASE)
  await snapshotDatabase(database, file, copying.signal)
  // A site that has never started has no secret yet.
  await unlessMissing(copyFile(secretPath(data.dir), join(copying.part, SECRET)))
  const snapshot = await openDatabase({ ...database, location: { kind: 'sqlite', file } })
  try {
    const problems: string[] = []
    const repositories = await copyRepositories(context, { ...copying, snapshot, problems })
    const blobs = await copyBlobs(context, { ...copying, snapshot, problems })
    return { repositories, blobs, problems }
  } finally {
    await closeDatabase(snapshot)
  }
}

interface CopyingRows extends Copying {
  readonly snapshot: Database
  readonly problems: string[]
}

async function copyRepositories(
  { settings }: BackupContext,
  { dir, part, files, signal, snapshot, problems }: CopyingRows,
): Promise<number> {
  const capture = { dataDir: settings.data.dir, dir, files }
  return await writeList(join(part, REPOSITORIES), {
    read: (page) => listAllRepositories(snapshot, page),
    async copy(row) {
      const lines: string[] = []
      for (const repository of [row, wikiOf(row)]) {
        signal.throwIfAborted()
        const found = await captureRepository(capture, repository)
        if (found !== undefined) lines.push(JSON.stringify(found))
        else if (repository.isWiki !== true || repository.sizeKib > 0) {
          problems.push(`${repository.owner.name}/${repository.name} has no folder`)
        }
      }
      return lines
    },
  })
}

async function copyBlobs(
  { storage }: BackupContext,
  { dir, part, files, signal, snapshot, problems }: CopyingRows,
): Promise<number> {
  return await writeList(join(part, BLOBS), {
    read: (page) => listBlobs(snapshot, page),
    async copy({ key, bytes }) {
      signal.throwIfAborted()
      const target = sharedBlobPath(dir, key)
      if (await copyBlob({ storage, files }, { key, bytes, target })) return [key]
      problems.push(`the blob ${key} is missing or incomplete`)
      return []
    },
  })
}

interface ListedRows<Row> {
  readonly read: PageReader<Row>
  /** Copies the data of a row; returns its lines. */
  copy(row: Row): Promise<readonly string[]>
}

/** Copies the data of all rows, and writes their lines to a new file; returns their number. */
async function writeList<Row extends { readonly id: number }>(
  path: string,
  { read, copy }: ListedRows<Row>,
): Promise<number> {
  const list = await open(path, 'wx', 0o600)
  let written = 0
  try {
    for await (const page of pagesOf(read)) {
      const lines = (await inLanes(page, copy)).flat()
      await list.write(lines.map((line) => `${line}\n`).join(''))
      written += lines.length
    }
    await list.sync()
  } finally {
    await list.close()
  }
  return written
}

/** Returns false if the bytes of a blob are missing or too few. */
async function copyBlob(
  { storage, files }: Pick<BackupContext, 'storage'> & Pick<Copying, 'files'>,
  { key, bytes, target }: { readonly key: string; readonly bytes: number; readonly target: string },
): Promise<boolean> {
  if ((await storage.sizeOf(key)) !== bytes) return false
  const source = storage.pathOf(key)
  if (source !== undefined) return await files.addFile(source, target)
  await files.addBytes(target, () => storage.open(key, { start: 0, end: bytes }))
  return true
}

async function writeManifest(part: string, copied: Copied): Promise<Manifest> {
  const sha256: Record<string, string> = {}
  for (const name of (await readdir(part)).sort()) {
    await syncPath(join(part, name))
    sha256[name] = await digestOf(join(part, name))
  }
  const manifest = { format: FORMAT, createdAt: new Date().toISOString(), ...copied, sha256 }
  const path = join(part, MANIFEST)
  await writeFile(path, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 })
  await syncPath(path)
  await syncPath(part)
  return manifest
}

/** Returns the SHA-256 digest of a file. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}
