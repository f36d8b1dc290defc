/** Errors of Git over HTTP: one sentence that git prints on the client's terminal. */

import type { Reply } from '../../conf/http.js'
import type { Surface } from '../request/route.js'
import { bringsPack, refusePush } from './refused-push.js'

/** Path of the page where users create access tokens. */
const TOKENS_PATH = '/user/settings/applications'

export const GIT_SURFACE: Surface = {
  name: 'git',
  challenges: true,
  passwordRefusal({ git, http, web }) {
    if (git.allowsPasswords) return undefined
    const place = web.isEnabled
      ? `at ${http.baseUrl}${TOKENS_PATH}`
      : `with POST ${http.baseUrl}/api/v1/users/USER/tokens`
    return `Git over HTTPS takes an access token as the password. Create one ${place}.`
  },
  refuse(_context, failure, request): Reply {
    if (failure.failure === 'insufficient_storage' && bringsPack(request)) {
      return refusePush(failure, request)
    }
    const headers: Array<readonly [string, string]> = [
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['Cache-Control', 'no-cache'],
      ['X-Content-Type-Options', 'nosniff'],
    ]
    if (failure.status === 401) headers.push(['WWW-Authenticate', 'Basic realm="Gatehouse"'])
    return { status: failure.status, headers, body: `${failure.message}\n` }
  },
}
