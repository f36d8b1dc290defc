/** What a request's headers must look like before anything reads them as one request. */

/**
 * Says what is wrong with the framing of a request, or nothing (RFC 9112 §6). The listener itself
 * takes the first of several lengths and an unknown transfer coding as none, after which the rest
 * of the body would run as a request of its own.
 */
export function framingFault(
  headers: ReadonlyArray<readonly [name: string, value: string]>,
): string | undefined {
  let length: string | undefined
  let coding: string | undefined
  for (const [name, value] of headers) {
    if (/[\u0000\r\n]/.test(value)) return 'A header holds a control character.'
    if (name === 'content-length') {
      if (length !== undefined) return 'Content-Length is repeated.'
      if (!/^\d{1,15}$/.test(value)) return 'Content-Length is not a number.'
      length = value
    } else if (name === 'transfer-encoding') {
      if (coding !== undefined) return 'Transfer-Encoding is repeated.'
      if (value.toLowerCase() !== 'chunked') return 'The only transfer coding taken is chunked.'
      coding = value
    }
  }
  if (length !== undefined && coding !== undefined) {
    return 'Content-Length and Transfer-Encoding exclude each other.'
  }
  return undefined
}
