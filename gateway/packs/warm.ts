/** Puts the pack cache of a worker together from what the worker has. */

import { join } from 'node:path'
import type { Git } from '../../cgi/process/git.js'
import { callUploadPack, UploadPackError } from '../../cgi/transfer/upload-pack.js'
import { isFailure } from '../../conf/failures.js'
import { GIT_COMMAND_MS } from '../../conf/limits.js'
import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import { readBody } from '../incoming-body.js'
import { PackCache } from './pack-cache.js'
import { PackStore } from './pack-store.js'
import type { ProcessQueue } from './process-queue.js'
import { type AskReferences, ReferenceLists } from './reference-lists.js'
import { type BoardLink, Flights } from './single-flight.js'
import { FlightBoard } from './single-flight-coordinator.js'

export interface WarmOptions {
  readonly git: Git
  readonly log: Log
  readonly queue: ProcessQueue
  /** As they are now. */
  readonly settings: () => Settings
  readonly link: BoardLink
}

/** The pack cache of a worker. */
export function createPackCache({ git, log, queue, settings, link }: WarmOptions): PackCache {
  const { cache, data } = settings()
  const ask: AskReferences = async ({ repositoryPath, client }, body, bytesMax) => {
    const signal = AbortSignal.timeout(GIT_COMMAND_MS)
    const leave = await queue.enter(signal, { repository: repositoryPath, client })
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
      if (error instanceof UploadPackError || isFailure(error, 'payload_too_large'))
        return undefined
      throw error
    } finally {
      leave()
    }
  }
  const folder = packFolder(data.dir)
  return new PackCache({
    git,
    log,
    queue,
    flights: new Flights(link, log),
    store: new PackStore(
      {
        folder,
        diskBytesMax: cache.diskBytesMax,
        diskBytesFree: cache.diskBytesFree,
        memoryBytesMax: cache.memoryBytesMax,
      },
      log,
    ),
    references: new ReferenceLists(ask),
    timeoutMs: () => settings().git.timeoutMs,
  })
}

async function* onlyChunk(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

/** Where the answers are kept. */
export function packFolder(dataDir: string): string {
  return join(dataDir, 'cache', 'packs')
}

/** The link of a worker that is alone. */
export function createLocalBoard(dataDir: string): BoardLink {
  let take: Parameters<BoardLink['listen']>[0] = () => {}
  const board = new FlightBoard(packFolder(dataDir), (_member, news) => {
    queueMicrotask(() => take(news))
  })
  return {
    report: (report) => board.take(0, report),
    listen(listener) {
      take = listener
    },
  }
}
