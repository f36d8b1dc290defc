/** Rendering of errors as plain text, which most formats use. */

import type { Failure } from '../conf/failures.js'
import type { Reply } from '../conf/http.js'

/** Returns the message as a plain text body. */
export function refuseInText({ message }: Failure): Pick<Reply, 'headers' | 'body'> {
  return { headers: [['Content-Type', 'text/plain;charset=utf-8']], body: message }
}
