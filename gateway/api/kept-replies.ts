/** Earlier replies, which are sent again until something that they depend on changes. */

import { hash } from 'node:crypto'
import { readStateOfTick } from '../../cgi/repository/repository-state.js'
import type { Reply, Request } from '../../conf/http.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { dataVersion } from '../../sql/database/dialect.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { isKnown, notModified, tagOf, unlessKnown } from './entity-tag.js'
import type { Operation } from './operation.js'

/** Maximum number of kept replies of a worker; the least recently used is dropped. */
const REPLIES_MAX = 2_000

/** Maximum length of their bodies together, in characters of one or two bytes. */
const BODIES_LENGTH_MAX = 8_388_608

/** Maximum length of a body that is kept; of a longer one, only the tag is. */
const BODY_LENGTH_MAX = 524_288

/** Maximum length of the headers that are kept, because they repeat the address. */
const HEADERS_LENGTH_MAX = 2_000

/** Headers that determine the caller. */
const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'sudo', 'x-gitea-otp'] as const

interface KeptReply {
  /** State of all that the reply depends on, read before the reply was made. */
  readonly state: string
  readonly tag: string
  /** The reply; undefined if its body is too long to be kept. */
  readonly reply: Reply | undefined
  /** The reply to a client that has this tag. Its headers are frozen: then their text is kept. */
  readonly notModified: Reply
}

/** Replies by request; the least recently used is the first. */
interface KeptReplies {
  readonly byRequest: Map<string, KeptReply>
  bodiesLength: number
}

/** Replies by database, because the gateways of a process have different ones. */
const REPLIES = new WeakMap<object, KeptReplies>()

interface Read {
  readonly dependsOn: NonNullable<Operation['dependsOn']>
  readonly request: Request
  readonly grant: object
  /** Makes the reply, with its tag if it may be kept. */
  readonly answer: () => Awaitable<Reply>
}

/**
 * Answers an authorized request for data. The reply to an earlier request is sent again, or 304 if
 * the client has it, if the requests are the same and nothing that it depends on has changed since.
 */
export function answerFromKept(
  context: Pick<Context, 'db' | 'settings'>,
  read: Read,
): Awaitable<Reply> {
  return after(dataVersion(context.db), (version) => {
    const gitState = read.dependsOn === 'rows' ? '' : gitStateOf(context, read.grant)
    if (version === undefined || gitState === undefined) return makeReply(read)
    const replies = REPLIES.get(context.db) ?? { byRequest: new Map(), bodiesLength: 0 }
    REPLIES.set(context.db, replies)
    return answerAt(`${version}\n${gitState}`, replies, read)
  })
}

function makeReply({ answer, request }: Read): Awaitable<Reply> {
  return after(answer(), (reply) => unlessKnown(request, reply))
}

function answerAt(
  state: string,
  replies: KeptReplies,
  { request, answer }: Read,
): Awaitable<Reply> {
  const key = keyOf(request)
  const kept = take(replies, key)
  if (kept?.state === state) {
    put(replies, key, kept)
    if (isKnown(request.headers, kept.tag)) return kept.notModified
    if (kept.reply !== undefined) return kept.reply
  }
  return after(answer(), (reply) => {
    keep(replies, key, { state, reply })
    return unlessKnown(request, reply)
  })
}

function keep(
  replies: KeptReplies,
  key: string,
  { state, reply }: Pick<KeptReply, 'state'> & { readonly reply: Reply },
): void {
  const { headers = [], body } = reply
  const tag = tagOf(reply)
  if (tag === undefined || headers.join().length > HEADERS_LENGTH_MAX) return
  const isShort = typeof body === 'string' && body.length <= BODY_LENGTH_MAX
  const kept = isShort ? { ...reply, headers: Object.freeze([...headers]) } : undefined
  take(replies, key)
  put(replies, key, { state, tag, reply: kept, notModified: notModified(headers) })
  for (const oldest of replies.byRequest.keys()) {
    const isFull = replies.byRequest.size > REPLIES_MAX || replies.bodiesLength > BODIES_LENGTH_MAX
    if (!isFull) break
    take(replies, oldest)
  }
}

function put(replies: KeptReplies, key: string, kept: KeptReply): void {
  replies.byRequest.set(key, kept)
  replies.bodiesLength += lengthOf(kept)
}

function take(replies: KeptReplies, key: string): KeptReply | undefined {
  const kept = replies.byRequest.get(key)
  if (kept === undefined) return undefined
  replies.byRequest.delete(key)
  replies.bodiesLength -= lengthOf(kept)
  return kept
}

function lengthOf({ reply }: KeptReply): number {
  return typeof reply?.body === 'string' ? reply.body.length : 0
}

/** Returns the settled state of the repository that a request was authorized for, or undefined. */
function gitStateOf(context: Pick<Context, 'settings'>, grant: object): string | undefined {
  if (!('repository' in grant)) return undefined
  const path = repositoryPathOf(context, grant.repository as Repository)
  const state = readStateOfTick(path)
  return state?.isSettled ? `${path}\n${state.text}` : undefined
}

/** Returns a digest, so that no credentials are kept, of all on which a grant depends. */
function keyOf({ path, query, headers }: Request): string {
  const credentials = CREDENTIAL_HEADERS.map((name) => headers.get(name) ?? '')
  return hash('sha256', JSON.stringify([path, query, ...credentials]), 'base64url')
}
