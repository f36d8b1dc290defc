/** Entity tags of earlier replies, with which a conditional request needs no new reply. */

import { hash } from 'node:crypto'
import { readStateOfTick } from '../../cgi/repository/repository-state.js'
import type { Reply, Request } from '../../conf/http.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { dataVersion } from '../../sql/database/dialect.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { isKnown, notModified } from './entity-tag.js'
import type { Operation } from './operation.js'

/** Maximum number of kept tags of a worker; the least recently used is dropped. */
const TAGS_MAX = 2_000

/** Maximum length of the headers that are kept with a tag, because they repeat the address. */
const HEADERS_LENGTH_MAX = 2_000

/** Headers that determine the caller. */
const CREDENTIAL_HEADERS = ['authorization', 'cookie', 'sudo', 'x-gitea-otp'] as const

interface KeptTag {
  /** State of all that the reply depends on, read before the reply was made. */
  readonly state: string
  readonly tag: string
  /** The reply to a client that has this tag. Its headers are frozen: then their text is kept. */
  readonly notModified: Reply
}

/** Tags by database, because the gateways of a process have different ones. */
const TAGS = new WeakMap<object, Map<string, KeptTag>>()

interface ConditionalRead {
  readonly dependsOn: NonNullable<Operation['dependsOn']>
  readonly request: Request
  readonly grant: object
  /** Makes the reply, and returns 304 instead if the client has the same. */
  readonly answer: () => Awaitable<Reply>
}

/**
 * Answers an authorized request with `If-None-Match`: 304 without making the reply if the tag is
 * the one of an earlier reply to the same request, and nothing that it depends on has changed
 * since.
 */
export function answerConditionally(
  context: Pick<Context, 'db' | 'settings'>,
  read: ConditionalRead,
): Awaitable<Reply> {
  return after(dataVersion(context.db), (version) => {
    const gitState = read.dependsOn === 'rows' ? '' : gitStateOf(context, read.grant)
    if (version === undefined || gitState === undefined) return read.answer()
    const tags = TAGS.get(context.db) ?? new Map<string, KeptTag>()
    TAGS.set(context.db, tags)
    return answerAt(`${version}\n${gitState}`, tags, read)
  })
}

function answerAt(
  state: string,
  tags: Map<string, KeptTag>,
  { request, answer }: ConditionalRead,
): Awaitable<Reply> {
  const key = keyOf(request)
  const kept = tags.get(key)
  tags.delete(key)
  if (kept?.state === state) {
    tags.set(key, kept)
    if (isKnown(request.headers, kept.tag)) return kept.notModified
  }
  return after(answer(), (reply) => {
    keep(tags, { key, state, reply })
    return reply
  })
}

interface MadeReply {
  readonly key: string
  readonly state: string
  readonly reply: Reply
}

function keep(
  tags: Map<string, KeptTag>,
  { key, state, reply: { headers = [] } }: MadeReply,
): void {
  const [, tag] = headers.find(([name]) => name === 'ETag') ?? []
  if (tag === undefined || headers.join().length > HEADERS_LENGTH_MAX) return
  tags.set(key, { state, tag, notModified: notModified(headers) })
  for (const oldest of tags.keys()) {
    if (tags.size <= TAGS_MAX) break
    tags.delete(oldest)
  }
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
