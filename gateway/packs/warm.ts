/** Construction of a worker's pack cache. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { checkReachability } from '../../cgi/objects/reachability.js'
import { commitsNear, recentCommits } from '../../cgi/objects/recent-commits.js'
import { filesOf } from '../../cgi/objects/tip-files.js'
import { smallUpdatePack, updatePack } from '../../cgi/objects/update-pack.js'
import type { Git } from '../../cgi/process/git.js'
import { GIT_COMMAND_MS } from '../../cgi/process/git-limits.js'
import { callUploadPack, UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { isFailure } from '../../conf/failures.js'
import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import { readBody } from '../http/incoming-body.js'
import { KeptDownloads } from './kept-downloads.js'
import { WANTS_MAX } from './normal-fetch.js'
import { PackCache } from './pack-cache.js'
import { PackStore } from './pack-store.js'
import type { ProcessQueue } from './process-queue.js'
import { type AskReachability, ReachableWants } from './reachable-wants.js'
import { type AskHistory, RecentHistories } from './recent-histories.js'
import { type AskReferences, ReferenceLists } from './reference-lists.js'
import { RepeatedCheckouts } from './repeated-checkouts.js'
import { type AskPack, ShallowUpdates } from './shallow-updates.js'
import { SharedAnswers } from './shared-answers.js'
import { SharedBases } from './shared-bases.js'
import { type CoordinatorLink, SingleFlight } from './single-flight.js'
import { SingleFlightCoordinator } from './single-flight-coordinator.js'
import { type AskFiles, TipFiles } from './tip-files.js'

export interface WarmOptions {
  readonly git: Git
  readonly log: Log
  readonly queue: ProcessQueue
  /** Returns the current settings. */
  readonly settings: () => Settings
  readonly link: CoordinatorLink
}

/** Time in which a proxy opens a file whose path it has received. */
const OPENED_BY_PROXY_MS = 20_000

/** Maximum size of a stored archive or bundle, as a share of `cache.disk_max`. */
const DOWNLOAD_SHARE = 1 / 8

/** Minimum memory for lists of refs; by default they may use half of `cache.memory_max`. */
const LISTS_BYTES_MIN = 33_554_432

/** Creates the pack cache of a worker. */
export function createPackCache({ git, log, queue, settings, link }: WarmOptions): PackCache {
  const { cache, http } = settings()
  const ask: AskReferences = async ({ repositoryPath, client }, body, bytesMax) => {
    const signal = AbortSignal.timeout(GIT_COMMAND_MS)
    const freeSlot = await queue.enter(signal, { repository: repositoryPath, client })
    try {
      const answer = await callUploadPack(git, {
        repositoryPath,
        gitProtocol: 'version=2',
        signal,
        timeoutMs: GIT_COMMAND_MS,
        body: onlyChunk(body),
      })
      return await readBody(answer.body, bytesMax)
    } catch (error) {
      if (error instanceof UploadPackError) return undefined
      if (isFailure(error, 'payload_too_large')) return 'too long'
      throw error
    } finally {
      freeSlot()
    }
  }
  /** Runs a short command of git with a slot of the queue. */
  const inQueue = async <T>(
    repository: string,
    client: string,
    run: () => Promise<T>,
  ): Promise<T> => {
    const signal = AbortSignal.timeout(GIT_COMMAND_MS)
    const freeSlot = await queue.enter(signal, { repository, client })
    return await run().finally(freeSlot)
  }
  const askReachability: AskReachability = ({ repositoryPath, client }, question) =>
    inQueue(repositoryPath, client, () => checkReachability(git, repositoryPath, question))
  const askHistory: AskHistory = ({ repositoryPath, client }, question) =>
    inQueue(repositoryPath, client(), () => recentCommits(git, repositoryPath, question))
  const askFiles: AskFiles = ({ repositoryPath, client }, commit) =>
    inQueue(repositoryPath, client(), () =>
      filesOf(git, repositoryPath, { commit, countMax: WANTS_MAX }),
    )
  const askPack: AskPack = async (repositoryPath, contents, signal) =>
    await updatePack(git, repositoryPath, contents, signal).catch((error: unknown) => {
      log.warn({ error, repositoryPath }, 'no pack was made for shallow workspaces')
      return undefined
    })
  const histories = new RecentHistories(askHistory, commitsNear)
  const files = new TipFiles(askFiles)
  const folder = packFolder(cache.dir)
  const { diskBytesMax } = cache
  const store = new PackStore(
    {
      folder,
      diskBytesMax,
      diskBytesFree: cache.diskBytesFree,
      memoryBytesMax: cache.memoryBytesMax,
      // A proxy that sends the files makes long answers in memory useless.
      heldBytesMax: http.sendfile === undefined ? cache.memoryBytesMax : 0,
      graceMs: http.sendfile === undefined ? 0 : OPENED_BY_PROXY_MS,
    },
    log,
  )
  const packCache = new PackCache({
    git,
    log,
    queue,
    singleFlight: new SingleFlight(link, log),
    store,
    downloads: new KeptDownloads({
      git,
      log,
      store,
      folder,
      bytesMax: diskBytesMax * DOWNLOAD_SHARE,
    }),
    references: new ReferenceLists(ask, Math.max(LISTS_BYTES_MIN, cache.memoryBytesMax / 2)),
    reachable: new ReachableWants(askReachability, { histories, files }),
    shared: new SharedAnswers(
      new SharedBases(histories),
      new ShallowUpdates(histories, { git: askPack, small: smallUpdatePack }),
    ),
    checkouts: new RepeatedCheckouts(files),
    link,
    timeoutMs: () => settings().git.timeoutMs,
  })
  link.hear((pushed) => packCache.prepareAfter(pushed))
  return packCache
}

async function* onlyChunk(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

/** Returns the folder of the stored answers. */
export function packFolder(cacheDir: string): string {
  return join(cacheDir, 'packs')
}

/** Creates a coordinator for a single worker, in its own process. */
export function createLocalCoordinator(cacheDir: string): CoordinatorLink {
  let take: Parameters<CoordinatorLink['listen']>[0] = () => {}
  const localCoordinator = new SingleFlightCoordinator(
    { folder: packFolder(cacheDir), name: randomUUID() },
    (_member, notification) => {
      queueMicrotask(() => take(notification))
    },
  )
  return {
    report: (report) => localCoordinator.take(0, report),
    listen(listener) {
      take = listener
    },
    announce() {},
    hear() {},
  }
}
