/** What a request's headers must look like before anything reads them as one request. */

import type { RequestHeaders } from '../../conf/http.js'

/**
 * Says what is wrong with the framing of a request, or nothing (RFC 9112 §6). The listener itself
 * takes the first of several lengths and an unknown transfer coding as none, after which the rest
 * of the body would run as a request of its own. Repeated headers stand joined by `, ` here.
 */
export function framingFault(headers: RequestHeaders): string | undefined {
  for (const value of headers.values()) {
    if (/[\u0000\r\n]/.test(value)) return 'A header holds a control character.'
  }
  const length = headers.get('content-length')
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return 'Content-Length is not one number.'
  }
  const coding = headers.get('transfer-encoding')
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return 'The only transfer coding taken is chunked.'
  }
  if (length !== undefined && coding !== undefined) {
    return 'Content-Length and Transfer-Encoding exclude each other.'
  }
  return undefined
}
