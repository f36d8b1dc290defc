/** Answers of the pack cache, and their bodies. */

import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { readOnce } from '../../conf/lib/chunks.js'
import type { NormalRequest } from './normal-request.js'
import type { StoredPack } from './pack-store.js'
import { packetLine } from './pkt-line.js'
import { readAhead } from './read-ahead.js'
import { SHARED_BYTES_MAX } from './shared-bases.js'

/** Source of an answer: a stored one, another request's in-flight one, or a new git process. */
export type PackCacheOutcome = 'hit' | 'join' | 'miss'

/** An answer to a request to upload-pack. */
export interface WarmAnswer {
  readonly command: NormalRequest['command']
  readonly outcome: PackCacheOutcome
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
  /** Length of the body; absent if it is not known yet. */
  readonly bytes?: number
  /** See `StoredPack`. */
  readonly file?: StoredPack['file']
}

/** Returns git's answer to a fetch of an object that it does not send. */
export function refusalOf(oid: string): WarmAnswer {
  const body = Buffer.from(packetLine(`ERR upload-pack: not our ref ${oid}`))
  return { command: 'fetch', outcome: 'miss', body, bytes: body.byteLength }
}

/** Returns the answer after these packets; undefined if it is too long to be shared. */
export function withHead(answer: WarmAnswer, head: Buffer): Awaitable<WarmAnswer | undefined> {
  const { body, outcome } = answer
  if (!(body instanceof Uint8Array)) {
    return after(readAhead(body, SHARED_BYTES_MAX), async ({ beginning, rest }) => {
      if (rest === undefined) return withHead({ ...answer, body: beginning }, head)
      await rest.return?.()
      return undefined
    })
  }
  if (body.byteLength > SHARED_BYTES_MAX) return undefined
  const bytes = head.byteLength + body.byteLength
  return { command: 'fetch', outcome, body: Buffer.concat([head, body]), bytes }
}

/** Reads a body to its end. */
export async function drain(body: WarmAnswer['body']): Promise<void> {
  if (body instanceof Uint8Array) return
  for await (const _chunk of body);
}

/** Returns the body of an answer, as a stream if it has several pieces. */
export function bodyOf(pieces: readonly Buffer[]): Pick<WarmAnswer, 'body' | 'bytes'> {
  const [first, ...others] = pieces
  if (first !== undefined && others.length === 0) return { body: first, bytes: first.byteLength }
  const left = pieces.values()
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const { done, value } = left.next()
    return done === true ? { done, value: undefined } : { done: false, value }
  }
  const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  return { body: readOnce(next, () => {}), bytes }
}
