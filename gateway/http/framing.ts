/** Validation of the headers that delimit a request, before anything else reads them. */

import type { RequestHeaders } from '../../conf/http.js'

/**
 * Returns the fault in the framing of a request, or undefined (RFC 9112 §6). The listener itself
 * uses the first of several lengths and ignores an unknown transfer coding, and would then run the
 * rest of the body as a further request. Repeated headers arrive joined by `, `.
 */
export function framingFault(headers: RequestHeaders): string | undefined {
  for (const value of headers.values()) {
    if (/[\u0000\r\n]/.test(value)) return 'A header contains a control character.'
  }
  const length = headers.get('content-length')
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return 'Content-Length is not one number.'
  }
  const coding = headers.get('transfer-encoding')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return 'The only supported transfer coding is chunked.'
  }
  if (length !== undefined && coding !== undefined) {
    return 'Content-Length and Transfer-Encoding exclude each other.'
  }
  return undefined
}
