/** Request objects for tests of functions that take one. */

import type { Request } from '../../conf/http.js'
import { NO_BODY } from '../../gateway/http/incoming-body.js'

/** Returns a plain GET request with the given fields replaced. */
export function aRequest(fields: Partial<Request> = {}): Request {
  return {
    id: 'r',
    method: 'GET',
    path: '/',
    query: '',
    headers: new Map(),
    body: NO_BODY,
    address: '192.0.2.1',
    scheme: 'http',
    signal: new AbortController().signal,
    ...fields,
  }
}
