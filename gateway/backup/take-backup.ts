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
 * than the rows. A process that is killed leaves no snapshot, and files that the next call removes.
 * Throws an Error if other accounts can read the folder, or if another process uses it.
 */
export async function takeBackup(context: BackupContext, target: string): Promise<Snapshot> {
  const dir = resolve(target)
  await makePrivate(dir)
  return await underBackupLock(dir, async () => {
    await removeIncomplete(dir)
    const id = newSnapshotId()
    const part = join(snapshotsFolder(dir), `${id}.part`)
    await mkdir(join(part, 'incoming'), { recursive: true, mode: 0o700 })
    const files = openSharedFiles(dir, join(part, 'incoming'))
    const copied = await withHold(context.db, (signal) =>
      copySite(context, { dir, part, files, signal }),
    )
    await files.flush()
    await rm(join(part, 'incoming'), { recursive: true })
    const manifest = await writeManifest(part, copied)
    await rename(part, join(snapshotsFolder(dir), id))
    await syncPath(snapshotsFolder(dir))
    return { id, manifest }
  })
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
  await snapshotDatabase(database, file)
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

const PAGE = 200

async function copyRepositories(
  { settings }: BackupContext,
  { dir, part, files, signal, snapshot, problems }: CopyingRows,
): Promise<number> {
  const list = await open(join(part, REPOSITORIES), 'wx', 0o600)
  let copied = 0
  try {
    for (let afterId = 0; ; ) {
      const page = await listAllRepositories(snapshot, { afterId, limit: PAGE })
      const captured = await inLanes(
        page.flatMap((repository) => [repository, wikiOf(repository)]),
        async (repository) => {
          signal.throwIfAborted()
          const found = await captureRepository(
            { dataDir: settings.data.dir, dir, files },
            repository,
          )
          if (found !== undefined) return [JSON.stringify(found)]
          const { owner, name, isWiki, sizeKib } = repository
          if (isWiki !== true || sizeKib > 0) problems.push(`${owner.name}/${name} has no folder`)
          return []
        },
      )
      const lines = captured.flat()
      copied += lines.length
      await list.write(lines.map((line) => `${line}\n`).join(''))
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      afterId = last.id
    }
    await list.sync()
  } finally {
    await list.close()
  }
  return copied
}

async function copyBlobs(
  { storage }: BackupContext,
  { dir, part, files, signal, snapshot, problems }: CopyingRows,
): Promise<number> {
  const list = await open(join(part, BLOBS), 'wx', 0o600)
  let copied = 0
  try {
    for (let afterId = 0; ; ) {
      const page = await listBlobs(snapshot, { afterId, limit: PAGE })
      const keys = await inLanes(page, async ({ key, bytes }) => {
        signal.throwIfAborted()
        if (await copyBlob({ storage, files }, { key, bytes, target: sharedBlobPath(dir, key) })) {
          return [`${key}\n`]
        }
        problems.push(`the blob ${key} is missing or incomplete`)
        return []
      })
      copied += keys.flat().length
      await list.write(keys.flat().join(''))
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      afterId = last.id
    }
    await list.sync()
  } finally {
    await list.close()
  }
  return copied
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
