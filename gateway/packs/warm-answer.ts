/** Answers of the pack cache, and their bodies. */

import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { readOnce } from '../../conf/lib/chunks.js'
import type { NormalRequest } from './normal-request.js'
import type { StoredPack } from './pack-store.js'
import { packetLine } from './pkt-line.js'
import { readAhead } from './read-ahead.js'

/**
 * Source of an answer: a stored one, another request's in-flight one, the gateway itself, or a new
 * git process.
 */
export type PackCacheOutcome = 'hit' | 'join' | 'made' | 'miss'

/** Returns true if the answer was made for this request. */
export function isNew(outcome: PackCacheOutcome): boolean {
  return outcome === 'made' || outcome === 'miss'
}

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

/** An answer in memory. */
export interface ShortAnswer extends WarmAnswer {
  readonly body: Buffer
}

/** Returns an answer with its body in memory; undefined if it has more bytes than this. */
export function shortAnswer(
  answer: WarmAnswer,
  bytesMax: number,
): Awaitable<ShortAnswer | undefined> {
  const { body } = answer
  if (body instanceof Uint8Array) {
    return body.byteLength > bytesMax
      ? undefined
      : withBody(answer, Buffer.from(body.buffer, body.byteOffset, body.byteLength))
  }
  return after(readAhead(body, bytesMax), async ({ beginning, rest }) => {
    if (rest === undefined) return withBody(answer, beginning)
    await rest.return?.()
    return undefined
  })
}

/** Returns an answer of the same outcome with another body. */
export function withBody({ command, outcome }: WarmAnswer, body: Buffer): ShortAnswer {
  return { command, outcome, body, bytes: body.byteLength }
}

/** Reads a body and returns its length. Of a longer one, reads a little more than `bytesMax`. */
export async function drain(body: WarmAnswer['body'], bytesMax: number): Promise<number> {
  if (body instanceof Uint8Array) return body.byteLength
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) break
  }
  return bytes
}

/** Closes a body that is not read. */
export async function leave(body: WarmAnswer['body']): Promise<void> {
  if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.()
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
