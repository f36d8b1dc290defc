/** How the Git door refuses: one sentence that git prints on the client's terminal. */

import type { Reply } from '../../conf/http.js'
import type { Door } from '../route.js'

export const GIT_DOOR: Door = {
  name: 'git',
  challenges: true,
  refuse(_context, failure): Reply {
    const headers: Array<readonly [string, string]> = [
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['Cache-Control', 'no-cache'],
      ['X-Content-Type-Options', 'nosniff'],
    ]
    if (failure.status === 401) headers.push(['WWW-Authenticate', 'Basic realm="Gatehouse"'])
    return { status: failure.status, headers, body: `${failure.message}\n` }
  },
}
