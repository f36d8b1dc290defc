/** Monitoring of the disks of the data folder; refuses new writes while one of them is full. */

import { randomBytes } from 'node:crypto'
import { access, constants, open, statfs, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { repositoryShardsFolder } from '../../cgi/repository/paths.js'
import { diskFailureOf, insufficientStorage } from '../../conf/disk-failure.js'
import type { Failure } from '../../conf/failures.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import { packFolder } from '../packs/warm.js'

/** Minimum number of free inodes of a disk while new writes are accepted. */
const DISK_FILES_FREE_MIN = 1_024

export interface DiskState {
  readonly folders: readonly FolderSpace[]
  /** Reason for refusing new writes, for the log; undefined while they are accepted. */
  readonly refusal: string | undefined
}

export interface FolderSpace {
  readonly name: 'data' | 'repositories' | 'database' | 'blobs' | 'cache'
  /** Bytes that this process may still write to the disk of the folder. */
  readonly freeBytes: number
}

export interface DiskWatch {
  /** Returns the state of the disks, at most a second old. */
  state(): Awaitable<DiskState>
  /**
   * Throws or rejects with `insufficient_storage` while a disk has less than `data.disk_free_min`
   * free, is read-only, or does not take a trial write after a failed one.
   */
  refuseWrites(): Awaitable<void>
  /** Records the error of a request; a failed write causes trial writes until one succeeds. */
  noteFailure(failure: Failure): void
}

export interface DiskWatchOptions {
  readonly settings: () => Pick<Settings, 'data' | 'database' | 'blobs' | 'cache'>
  readonly log: Log
  /** Pack cache, which is shrunk while writes are refused. */
  readonly packCache?: { evictToFit(): void }
}

const STATE_KEPT_MS = 1_000

/** Creates a watch. It reads the disks on demand, at most once a second. */
export function watchDisks({ settings, log, packCache }: DiskWatchOptions): DiskWatch {
  let known: DiskState = { folders: [], refusal: undefined }
  let readAtMs = Number.NEGATIVE_INFINITY
  let reading: Promise<DiskState> | undefined
  let isTrialNeeded = false

  async function read(): Promise<DiskState> {
    const isTrial = isTrialNeeded
    isTrialNeeded = false
    const state = await readDisks(settings(), { isTrial })
    isTrialNeeded ||= isTrial && state.refusal !== undefined
    if (state.refusal !== known.refusal) logChange(log, state)
    if (state.refusal !== undefined) packCache?.evictToFit()
    known = state
    readAtMs = performance.now()
    return state
  }

  const state = () => {
    if (performance.now() - readAtMs < STATE_KEPT_MS) return known
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
  return {
    state,
    refuseWrites: () =>
      after(state(), ({ refusal }) => {
        if (refusal !== undefined) throw insufficientStorage()
      }),
    noteFailure({ failure, cause }) {
      if (failure === 'insufficient_storage' && cause !== undefined) isTrialNeeded = true
    },
  }
}

function logChange(log: Log, { refusal, folders }: DiskState): void {
  const freeBytes = Object.fromEntries(folders.map((folder) => [folder.name, folder.freeBytes]))
  if (refusal === undefined) log.info({ freeBytes }, 'new writes are accepted again')
  else log.error({ reason: refusal, freeBytes }, 'new writes are refused: the disk is full')
}

interface Folder {
  readonly name: FolderSpace['name']
  readonly path: string
}

async function readDisks(
  settings: Pick<Settings, 'data' | 'database' | 'blobs' | 'cache'>,
  { isTrial }: { readonly isTrial: boolean },
): Promise<DiskState> {
  const { freeBytesMin } = settings.data
  const states = await Promise.all(
    foldersOf(settings).map((folder) => readFolder(folder, { freeBytesMin, isTrial })),
  )
  const folders = states.map(({ name, freeBytes }) => ({ name, freeBytes }))
  return { folders, refusal: states.find((state) => state.refusal !== undefined)?.refusal }
}

/** Returns the folders to check; each may be on a different disk. */
function foldersOf({
  data,
  database,
  blobs,
  cache,
}: Pick<Settings, 'data' | 'database' | 'blobs' | 'cache'>): readonly Folder[] {
  const { location } = database
  return [
    { name: 'data', path: data.dir },
    { name: 'repositories', path: repositoryShardsFolder(data.dir) },
    ...(location.kind === 'sqlite'
      ? [{ name: 'database', path: dirname(location.file) } as const]
      : []),
    ...(blobs.location.kind === 'files'
      ? [{ name: 'blobs', path: blobs.location.folder } as const]
      : []),
    { name: 'cache', path: packFolder(cache.dir) },
  ]
}

interface FolderState extends FolderSpace {
  readonly refusal: string | undefined
}

async function readFolder(
  { name, path }: Folder,
  { freeBytesMin, isTrial }: { readonly freeBytesMin: number; readonly isTrial: boolean },
): Promise<FolderState> {
  const space = await unlessMissing(statfs(path))
  // A missing folder will be created on the disk of its parent.
  if (space === undefined)
    return readFolder({ name, path: dirname(path) }, { freeBytesMin, isTrial })
  const freeBytes = space.bavail * space.bsize
  // A full disk of the cache refuses no writes, because the pack cache is optional.
  if (name === 'cache') return { name, freeBytes, refusal: undefined }
  const refuse = (reason: string): FolderState => ({
    name,
    freeBytes,
    refusal: `${name}: ${reason}`,
  })
  if (freeBytes < freeBytesMin) return refuse(`less than ${freeBytesMin} bytes are free`)
  // File systems that create inodes on demand, such as Btrfs, report 0 inodes.
  const isOutOfFiles = space.files > 0 && space.ffree < DISK_FILES_FREE_MIN
  if (freeBytesMin > 0 && isOutOfFiles) {
    return refuse(`fewer than ${DISK_FILES_FREE_MIN} inodes are free`)
  }
  const error = await failureOfWrite(path, isTrial)
  if (diskFailureOf(error) === undefined) return { name, freeBytes, refusal: undefined }
  return refuse((error as Error).message)
}

/** Size of a trial write, similar to the writes of a small request. */
const TRIAL_BYTES = 16_384

/**
 * Returns the error of writing a file to the folder, or undefined. Without a trial it checks only
 * access(2), which detects a read-only disk but not a full one.
 */
async function failureOfWrite(folder: string, isTrial: boolean): Promise<unknown> {
  try {
    await access(folder, constants.W_OK)
    if (!isTrial) return undefined
    const path = join(folder, `.trial-${randomBytes(6).toString('hex')}`)
    const file = await open(path, 'wx', 0o600)
    try {
      await unlink(path)
      await file.writeFile(Buffer.alloc(TRIAL_BYTES))
      await file.sync()
    } finally {
      await file.close()
    }
    return undefined
  } catch (error) {
    return error
  }
}
