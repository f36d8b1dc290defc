/** Error pages of the web surface; if authentication is needed, a redirect to the sign-in page. */

import type { Request } from '../../../conf/http.js'
import type { Settings } from '../../../conf/settings.js'
import type { Context } from '../../request/context.js'
import type { Surface } from '../../request/route.js'
import { Document } from './document.js'
import { htmlReply } from './html.js'

const TITLES: Readonly<Record<number, string>> = {
  401: 'Sign in first',
  403: 'Access denied',
  404: 'Page not found',
  409: 'Conflict',
  422: 'Invalid input',
  429: 'Too many requests',
  507: 'The disk is full',
}

export const WEB_SURFACE: Surface = {
  name: 'web',
  challenges: false,
  sessions: 'alone',
  refuse(context, failure, request) {
    const { http } = context.settings
    if (failure.status === 401 && request.method === 'GET') {
      const here = request.query === '' ? request.path : `${request.path}?${request.query}`
      return { status: 303, headers: [['Location', signInAddress(context, here)]] }
    }
    const title = TITLES[failure.status] ?? 'Request failed'
    const page = (
      <Document context={context} title={title}>
        <section class="narrow">
          <h1>{title}</h1>
          <p>{sentenceOf(failure.status, failure.message)}</p>
          <p>
            <a href={`${http.basePath}/`}>Back to the home page</a>
            {failure.status === 404 && ', or '}
            {failure.status === 404 && <a href={`${http.basePath}/user/login`}>sign in</a>}
          </p>
        </section>
      </Document>
    )
    return htmlReply(request, page, { status: failure.status })
  },
}

/** True if the request comes from a browser that expects a page, not from an API client. */
export function asksForPage({ http }: Settings, { path, headers }: Request): boolean {
  return (
    !path.startsWith(`${http.basePath}/api/`) && /\btext\/html\b/.test(headers.get('accept') ?? '')
  )
}

/** Returns the address of the sign-in page, which redirects back to `path`. */
export function signInAddress({ settings }: Context, path: string): string {
  return `${settings.http.basePath}/user/login?redirect_to=${encodeURIComponent(path)}`
}

function sentenceOf(status: number, message: string): string {
  if (status === 404) return 'The page does not exist, or you do not have permission to see it.'
  const isExplained = status < 500 || status === 503 || status === 507
  return isExplained ? message : 'The server could not handle the request. Try again in a moment.'
}
