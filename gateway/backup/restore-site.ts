/** Restores a site from a snapshot of a backup folder. */

import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { syncTree } from '../../cgi/repository/durable.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { rebuildRepository } from '../../cgi/repository/rebuild.js'
import { secretPath } from '../../conf/instance-secret.js'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'
import type { Settings } from '../../conf/settings.js'
import { openFileStorage } from '../../registry/storage/files.js'
import type { BlobStorage } from '../../registry/storage/storage.js'
import { type Revived, settleRestored } from '../../sql/admin/restored-site.js'
import { importDatabase, openEmptyDatabase } from '../../sql/database/copy-database.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database/database.js'
import { migrate, refuseNewerDatabase } from '../../sql/database/migrate.js'
import { inLanes } from '../check/in-lanes.js'
import { markRepositories } from '../check/mark-repositories.js'
import type { BackedUpRepository } from './capture-repository.js'
import {
  BLOBS,
  DATABASE,
  FORMAT,
  listSnapshots,
  REPOSITORIES,
  SECRET,
  type Snapshot,
  sharedBlobPath,
  sharedObjectPath,
  snapshotsFolder,
} from './layout.js'
import { underBackupLock } from './lock.js'
import { pagesOf } from './pages-of.js'
import { digestOf } from './take-backup.js'

export interface RestoreOptions {
  /** Folder of the backup. */
  readonly dir: string
  /** Id of the snapshot; by default the last one. */
  readonly snapshotId?: string | undefined
  /** Folder that becomes the data folder; it must be empty or missing. */
  readonly into: string
  /** Database server that gets the rows; its database must be empty. By default an SQLite file. */
  readonly database?: Settings['database'] | undefined
}

export interface RestoredSite {
  readonly snapshot: Snapshot
  readonly revived: Revived
  readonly db: Database
  readonly storage: BlobStorage
}

/**
 * Writes the data folder of a site with files as blobs, and flushes it. The
 * secret key comes last, because a site without it does not start. Calls `use` with the open site.
 * Throws an Error if the target has files, if the snapshot is damaged, or if it is of a newer
 * program.
 */
export async function restoreSite<T>(
  options: RestoreOptions,
  use: (site: RestoredSite) => Promise<T>,
): Promise<T> {
  const [dir, into] = [resolve(options.dir), resolve(options.into)]
  const snapshot = await findSnapshot(dir, options.snapshotId)
  const from = join(snapshotsFolder(dir), snapshot.id)
  await refuseDamage(from, snapshot)
  await makeEmpty(into)
  const db = await restoreRows(join(from, DATABASE), options)
  try {
    const revived = await settleRestored(db)
    await restoreRepositories(from, { dir, into })
    await markRepositories({ db, dataDir: into })
    const storage = await openFileStorage(join(into, 'blobs'))
    await restoreBlobs(from, { dir, storage })
    await syncTree(into)
    if (snapshot.manifest.sha256[SECRET] !== undefined) await restoreSecret(from, into)
    return await use({ snapshot, revived, db, storage })
  } finally {
    await closeDatabase(db)
  }
}

/**
 * Restores a snapshot into a folder inside that of the backup, calls `use` with the site, and
 * removes the folder. The next call removes that of a killed one.
 */
export async function restoreBriefly<T>(
  options: Pick<RestoreOptions, 'dir' | 'snapshotId'>,
  use: (site: RestoredSite, into: string) => Promise<T>,
): Promise<T> {
  const dir = resolve(options.dir)
  const into = join(dir, 'restored')
  return await underBackupLock(dir, async () => {
    const remove = () => rm(into, { recursive: true, force: true })
    await remove()
    try {
      return await restoreSite({ ...options, into }, (site) => use(site, into))
    } finally {
      await remove()
    }
  })
}

/** Writes the rows into a database of this program's schema. Returns the open database. */
async function restoreRows(copied: string, options: RestoreOptions): Promise<Database> {
  const server = options.database && (await openEmptyDatabase(options.database))
  const file = join(resolve(options.into), 'gatehouse.db')
  await copyFile(copied, file)
  const db = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
  try {
    await refuseNewerDatabase(db)
    await migrate(db)
    if (server === undefined) return db
    await importDatabase(db, server)
  } catch (error) {
    await closeDatabase(db)
    if (server !== undefined) await closeDatabase(server)
    throw error
  }
  await closeDatabase(db)
  await rm(file)
  return server
}

async function restoreSecret(from: string, into: string): Promise<void> {
  await copyFile(join(from, SECRET), secretPath(into))
  await syncPath(secretPath(into))
  await syncPath(into)
}

async function findSnapshot(dir: string, id: string | undefined): Promise<Snapshot> {
  const snapshots = await listSnapshots(dir)
  const found = id === undefined ? snapshots.at(-1) : snapshots.find((each) => each.id === id)
  if (found === undefined) {
    throw new Error(`${dir} has no ${id === undefined ? 'complete snapshot' : `snapshot ${id}`}`)
  }
  if (found.manifest.format === FORMAT) return found
  throw new Error(
    `the snapshot ${found.id} was made by a newer Gatehouse: restore it with that one`,
  )
}

async function refuseDamage(from: string, { id, manifest }: Snapshot): Promise<void> {
  for (const [name, digest] of Object.entries(manifest.sha256)) {
    if ((await digestOf(join(from, name))) === digest) continue
    throw new Error(`the file ${name} of the snapshot ${id} is damaged: restore another snapshot`)
  }
}

async function makeEmpty(into: string): Promise<void> {
  const names = await unlessMissing(readdir(into))
  if (names !== undefined && names.length > 0) {
    throw new Error(`${into} is not empty: name a new folder`)
  }
  await mkdir(into, { recursive: true, mode: 0o700 })
}

async function restoreRepositories(
  from: string,
  { dir, into }: { readonly dir: string; readonly into: string },
): Promise<void> {
  for await (const lines of pagesOf(join(from, REPOSITORIES))) {
    await inLanes(lines, async (line) => {
      const captured = JSON.parse(line) as BackedUpRepository
      const { storage } = captured
      await rebuildRepository(repositoryPath(into, storage), captured, (name, target) =>
        copyFile(sharedObjectPath(dir, storage, name), target, constants.COPYFILE_FICLONE),
      )
    })
  }
}

async function restoreBlobs(
  from: string,
  { dir, storage }: { readonly dir: string; readonly storage: BlobStorage },
): Promise<void> {
  for await (const keys of pagesOf(join(from, BLOBS))) {
    await inLanes(keys, async (key) => {
      const target = storage.pathOf(key)
      if (target === undefined) throw new Error('blobs are restored into files')
      await mkdir(dirname(target), { recursive: true, mode: 0o750 })
      await copyFile(sharedBlobPath(dir, key), target, constants.COPYFILE_FICLONE)
    })
  }
}
