/** The file that a request brings: as its body, or as the first file of a form. */

import { Failure } from '../conf/failures.js'
import type { Request } from '../conf/http.js'
import { readParts } from './multipart.js'

type Upload = Pick<Request, 'headers' | 'body'>

/**
 * The bytes of the file. Throws `bad_request` while they are read, where a form brings none or is
 * malformed. What `curl --data-binary` calls a form of fields is taken as it came.
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
  throw new Failure('bad_request', 'The form brings no file.')
}
