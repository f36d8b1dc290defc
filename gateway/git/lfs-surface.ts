/** Messages of Git LFS over HTTP: JSON objects, and errors that git-lfs shows to its user. */

import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import { hasManyValues, JSON_VALUES_MAX, parseJsonText } from '../../conf/lib/json-values.js'
import { authenticateLfs } from '../auth/lfs-ticket.js'
import { readBody } from '../http/incoming-body.js'
import type { Surface } from '../request/route.js'
import { GIT_SURFACE } from './surface.js'

/** Surface of Git LFS: the credentials of git, and tickets. */
export const LFS_SURFACE: Surface = {
  ...GIT_SURFACE,
  authenticate(context, request) {
    const passwordRefusal = GIT_SURFACE.passwordRefusal?.(context.settings)
    return authenticateLfs(context, request, { passwordRefusal })
  },
  refuse(_context, { status, message }, request) {
    const reply = lfsReply(status, { message, request_id: request.id })
    if (status !== 401) return reply
    const challenge = 'Basic realm="Gatehouse"'
    const challenges = ['WWW-Authenticate', 'LFS-Authenticate'].map(
      (name) => [name, challenge] as const,
    )
    return { ...reply, headers: [...(reply.headers ?? []), ...challenges] }
  },
}

/** Returns a reply with a message. */
export function lfsReply(status: number, message: unknown): Reply {
  const headers = [
    ['Content-Type', 'application/vnd.git-lfs+json'],
    ['Cache-Control', 'no-cache'],
    ['X-Content-Type-Options', 'nosniff'],
  ] as const
  return { status, headers, body: JSON.stringify(message) }
}

/** Suffices for 1,000 objects, or for two paths. */
const MESSAGE_BYTES_MAX = 262_144

export type LfsMessage = Readonly<Record<string, unknown>>

/** Reads a message of at most 256 KiB. Throws `invalid` if it is not a JSON object. */
export async function readLfsMessage(request: Request): Promise<LfsMessage> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const text = (await readBody(request.body, MESSAGE_BYTES_MAX, declared)).toString()
  if (hasManyValues(text, JSON_VALUES_MAX)) {
    throw new Failure('payload_too_large', `The body has more than ${JSON_VALUES_MAX} values.`)
  }
  const parsed = parsedOf(text)
  if (isMessage(parsed)) return parsed
  throw new Failure('invalid', 'The body is not a JSON object.')
}

function parsedOf(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    return undefined
  }
}

/** True for a JSON object. */
export function isMessage(value: unknown): value is LfsMessage {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
