/** How most formats refuse: with the sentence alone. */

import type { Failure } from '../conf/failures.js'
import type { Reply } from '../conf/http.js'

/** The message as plain text. */
export function refuseInText({ message }: Failure): Pick<Reply, 'headers' | 'body'> {
  return { headers: [['Content-Type', 'text/plain;charset=utf-8']], body: message }
}
