/** What pages need beside themselves: one stylesheet, which a browser keeps for good. */

import { gzipSync } from 'node:zlib'
import type { Reply } from '../../conf/http.js'
import type { AnyRoute, Route } from '../route.js'
import { WEB_DOOR } from './door.js'
import { takesGzip } from './html.js'
import { STYLESHEET, STYLESHEET_PATH } from './stylesheet.js'

const packed = gzipSync(STYLESHEET, { level: 9 })

const HEADERS: NonNullable<Reply['headers']> = [
  ['Content-Type', 'text/css; charset=utf-8'],
  ['Cache-Control', 'public, max-age=31536000, immutable'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Vary', 'Accept-Encoding'],
]

const stylesheet: Route<'open'> = {
  door: WEB_DOOR,
  method: 'GET',
  path: STYLESHEET_PATH,
  access: { kind: 'open' },
  scopes: [],
  handle: (_context, { request }) =>
    takesGzip(request)
      ? { status: 200, headers: [...HEADERS, ['Content-Encoding', 'gzip']], body: packed }
      : { status: 200, headers: HEADERS, body: STYLESHEET },
}

export const ASSET_ROUTES: readonly AnyRoute[] = [stylesheet]
