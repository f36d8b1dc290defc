/** Files of a backup folder, which holds any number of snapshots and the files that they share. */

import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { objectNameOf } from '../../registry/storage/object-name.js'

/** Version of the layout. */
export const FORMAT = 1

/** Content of `manifest.json`, which is written last: a folder without it is no snapshot. */
export interface Manifest {
  readonly format: number
  readonly createdAt: string
  readonly repositories: number
  readonly blobs: number
  /** Digests of the other files of the snapshot. */
  readonly sha256: Readonly<Record<string, string>>
  /** Sentences about data that the site had lost before the backup. */
  readonly problems: readonly string[]
}

export const DATABASE = 'database.sqlite'
/** List with a line of JSON for each repository and wiki: storage key, references and objects. */
export const REPOSITORIES = 'repositories.jsonl'
/** List with the key of each blob. */
export const BLOBS = 'blobs.txt'
export const SECRET = 'secret.key'
export const MANIFEST = 'manifest.json'

export const snapshotsFolder = (dir: string) => join(dir, 'snapshots')

/** Returns the shared file with the objects of a repository of that name. */
export function sharedObjectPath(dir: string, storage: string, name: string): string {
  return join(dir, 'repositories', storage.slice(0, 2), storage, name)
}

/** Returns the shared file of a blob. */
export function sharedBlobPath(dir: string, key: string): string {
  return join(dir, 'blobs', objectNameOf(key))
}

export interface Snapshot {
  readonly id: string
  readonly manifest: Manifest
}

/** Lists the complete snapshots of a backup folder, the oldest first. */
export async function listSnapshots(dir: string): Promise<readonly Snapshot[]> {
  const ids = (await unlessMissing(readdir(snapshotsFolder(dir)))) ?? []
  const snapshots: Snapshot[] = []
  for (const id of ids.sort()) {
    if (!ID.test(id)) continue
    const text = await unlessMissing(readFile(join(snapshotsFolder(dir), id, MANIFEST), 'utf8'))
    if (text !== undefined) snapshots.push({ id, manifest: JSON.parse(text) })
  }
  return snapshots
}

/** Removes what killed backups and prunes have left. Only under the lock of the folder. */
export async function removeIncomplete(dir: string): Promise<void> {
  const complete = new Set((await listSnapshots(dir)).map(({ id }) => id))
  for (const name of (await unlessMissing(readdir(snapshotsFolder(dir)))) ?? []) {
    if (!complete.has(name)) await rm(join(snapshotsFolder(dir), name), { recursive: true })
  }
}

const ID = /^\d{8}T\d{6}\.\d{3}Z$/

/** Returns the id of a snapshot of now, which sorts by time. */
export function newSnapshotId(): string {
  return new Date().toISOString().replace(/[-:]/g, '')
}
