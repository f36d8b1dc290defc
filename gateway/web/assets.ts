/** Routes of the static files of pages, which browsers cache permanently. */

import { gzipSync } from 'node:zlib'
import type { Reply } from '../../conf/http.js'
import type { AnyRoute, Route } from '../request/route.js'
import { type AssetFile, KEY_SCRIPT, STYLESHEET } from './asset-files.js'
import { takesGzip } from './kit/html.js'
import { WEB_SURFACE } from './kit/surface.js'

function defineAsset({ path, type, bytes }: AssetFile): Route<'open'> {
  const packed = gzipSync(bytes, { level: 9 })
  const headers: NonNullable<Reply['headers']> = [
    ['Content-Type', type],
    ['Cache-Control', 'public, max-age=31536000, immutable'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Vary', 'Accept-Encoding'],
  ]
  return {
    surface: WEB_SURFACE,
    method: 'GET',
    path,
    access: { kind: 'open' },
    scopes: [],
    handle: (_context, { request }) =>
      takesGzip(request)
        ? { status: 200, headers: [...headers, ['Content-Encoding', 'gzip']], body: packed }
        : { status: 200, headers, body: bytes },
  }
}

export const ASSET_ROUTES: readonly AnyRoute[] = [STYLESHEET, KEY_SCRIPT].map(defineAsset)
