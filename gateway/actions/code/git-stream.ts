/** Streams of git as replies: each occupies a slot of the queue, and repeated ones are stored. */

import type { GitStream } from '../../../cgi/objects/archive.js'
import type { Reply } from '../../../conf/http.js'
import type { Context } from '../../request/context.js'
import { type Caller, enterQueue } from './git-queue.js'

/** Maximum size of a raw file, an archive or a diff that is streamed. */
export const DOWNLOAD_BYTES_MAX = 17_179_869_184

interface Bounds {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly bytesMax: number
}

/** Starts a git stream that occupies a slot of the git process queue until it ends. */
export async function streamInQueue(
  context: Context,
  caller: Caller,
  start: (bounds: Bounds) => Promise<GitStream>,
): Promise<AsyncIterable<Uint8Array>> {
  const leave = await enterQueue(context, caller)
  try {
    const { timeoutMs } = context.settings.git
    const { signal } = caller.request
    const { body, ended } = await start({ signal, timeoutMs, bytesMax: DOWNLOAD_BYTES_MAX })
    void ended.finally(leave)
    return body
  } catch (error) {
    leave()
    throw error
  }
}

export interface StoredDownload {
  /** Returns everything on which the download depends, besides git and the repository's config. */
  readonly words: () => Promise<readonly string[]>
  /** Makes the download, unless it is stored. */
  readonly make: () => Promise<AsyncIterable<Uint8Array>>
}

/** Returns the body of a download of a repository, which is stored when it is made repeatedly. */
export async function sendStored(
  context: Context,
  repositoryPath: string,
  { words, make }: StoredDownload,
): Promise<Pick<Reply, 'body' | 'bodyBytes' | 'bodyFile'>> {
  const { downloads } = context.packCache
  const presentKey = async () => downloads.keyOf({ repositoryPath, words: await words() })
  const key = await presentKey()
  const stored = key === undefined ? undefined : await downloads.find(key)
  if (stored !== undefined) {
    return { body: stored.body, bodyBytes: stored.bytes, bodyFile: stored.file }
  }
  const body = await make()
  return { body: key === undefined ? body : downloads.keep(body, { key, presentKey }) }
}
