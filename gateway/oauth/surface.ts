/** Surface of the OAuth routes: errors have a code for programs and a description. */

import type { Reply } from '../../conf/http.js'
import { OauthFailure } from '../auth/oauth-failure.js'
import type { Surface } from '../request/route.js'

export const OAUTH_SURFACE: Surface = {
  name: 'api',
  challenges: false,
  refuse(context, failure) {
    const error = failure instanceof OauthFailure ? failure.error : wordOf(failure.status)
    // A body that is too large or of another type is reported as a malformed request.
    const status = [413, 415, 422].includes(failure.status) ? 400 : failure.status
    const reply = oauthReply(status, { error, error_description: failure.message })
    if (status !== 401) return reply
    const scheme = error === 'invalid_client' ? 'Basic' : 'Bearer'
    const challenge = `${scheme} realm="${context.settings.http.baseUrl}"`
    return { ...reply, headers: [...(reply.headers ?? []), ['WWW-Authenticate', challenge]] }
  },
}

function wordOf(status: number): string {
  if (status === 401) return 'invalid_token'
  if (status === 403) return 'insufficient_scope'
  if ([429, 503, 507].includes(status)) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Returns a JSON reply that must not be cached (RFC 6749 §5.1). */
export function oauthReply(status: number, value: object): Reply {
  return { status, headers: HEADERS, body: JSON.stringify(value) }
}

const HEADERS: NonNullable<Reply['headers']> = [
  ['Content-Type', 'application/json; charset=utf-8'],
  ['Cache-Control', 'no-store'],
  ['Pragma', 'no-cache'],
  ['X-Content-Type-Options', 'nosniff'],
]
