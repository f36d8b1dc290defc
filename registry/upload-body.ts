/** The uploaded file of a request: its body, or the first file of a multipart form. */

import { Failure } from '../conf/failures.js'
import type { Request } from '../conf/http.js'
import { readParts } from './multipart.js'

type Upload = Pick<Request, 'headers' | 'body'>

/**
 * Returns the bytes of the file. Reading throws `bad_request` if a form has no file or is
 * malformed. A body with the type of a URL-encoded form is used unparsed, because this is the
 * default type of `curl --data-binary`.
 */
export function uploadBody(request: Upload): AsyncIterable<Uint8Array> {
  const type = request.headers.get('content-type') ?? ''
  return /^multipart\/form-data\b/i.test(type) ? firstFile(request) : request.body
}

async function* firstFile(request: Upload): AsyncGenerator<Uint8Array> {
  for await (const part of readParts(request)) {
    if (part.fileName === undefined) continue
    yield* part.body
    return
  }
  throw new Failure('bad_request', 'The form has no file: no part has a filename parameter.')
}
