/** A request that nobody sent, for what is asked about one. */

import type { Request } from '../../conf/http.js'
import { NO_BODY } from '../../gateway/http/incoming-body.js'

/** A plain GET, but for some fields. */
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
