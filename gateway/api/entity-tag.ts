/** Conditional requests over the API: entity tags of JSON replies and of files (RFC 9110 §13). */

import { hash } from 'node:crypto'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request, RequestHeaders } from '../../conf/http.js'

/** Maximum length of a reply that is tagged, because the digest is computed in the event loop. */
const TAGGED_LENGTH_MAX = 4_194_304

/**
 * Returns the reply with a weak tag, which is a digest of its text. Other replies than a JSON text
 * with status 200 are not changed. Authorization and the handler have run by then, so a client
 * without permission gets its error.
 */
export function withEntityTag({ method }: Pick<Request, 'method'>, reply: Reply): Reply {
  const { status, headers = [], body } = reply
  if (!isRead(method) || status !== 200 || typeof body !== 'string') return reply
  if (body.length > TAGGED_LENGTH_MAX) return reply
  const tag = `W/"${hash('sha1', body, 'base64url')}"`
  return { ...reply, headers: [...headers, ['ETag', tag]] }
}

/** Returns the tag that `withEntityTag` has given to a reply. */
export function tagOf({ status, headers = [] }: Reply): string | undefined {
  return status === 200 ? headers.find(([name]) => name === 'ETag')?.[1] : undefined
}

/** Returns the reply to a read, or 304 if the client has the same. */
export function unlessKnown(
  { method, headers: asked }: Pick<Request, 'method' | 'headers'>,
  reply: Reply,
): Reply {
  const tag = isRead(method) ? tagOf(reply) : undefined
  const isSame = tag !== undefined && isKnown(asked, tag)
  return isSame ? notModified(reply.headers ?? []) : reply
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Returns the reply to a client that has the one with these headers. Its headers are frozen. */
export function notModified(headers: NonNullable<Reply['headers']>): Reply {
  const kept = headers.filter(([name]) => name !== 'Content-Type')
  return { status: 304, headers: Object.freeze(kept) }
}

/** Returns true if the client has a reply with this tag; the comparison is weak (§8.8.3.2). */
export function isKnown(headers: RequestHeaders, tag: string): boolean {
  const known = headers.get('if-none-match')
  if (known === undefined) return false
  const opaque = (text: string) => text.trim().replace(/^W\//, '')
  return known.split(',').some((one) => one.trim() === '*' || opaque(one) === opaque(tag))
}

/**
 * Returns the blob id that `If-Match` requires a file to have: the tag of the file's raw content.
 * Returns undefined without the header. Throws `precondition_failed` for other tags, because weak
 * ones never match (§13.1.1).
 */
export function requiredBlob(headers: RequestHeaders): string | undefined {
  const required = headers.get('if-match')
  if (required === undefined) return undefined
  const [, id] = /^\s*"([0-9a-f]{40}|[0-9a-f]{64})"\s*$/.exec(required) ?? []
  if (id !== undefined) return id
  throw new Failure(
    'precondition_failed',
    'If-Match must be the ETag of the raw file: its blob id, in quotes.',
  )
}
