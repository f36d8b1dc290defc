/** Path segments of wiki pages in requests. */

import type { Request } from '../../../conf/http.js'

/**
 * Returns the page's path segment as it was sent, because `+` and `%2B` differ in it: the last
 * segment, or the one before `action`.
 */
export function segmentIn({ path }: Request, action?: string): string {
  const segments = path.split('/')
  return segments.at(action === undefined ? -1 : -2) ?? ''
}
