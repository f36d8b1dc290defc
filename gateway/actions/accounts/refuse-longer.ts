/** Length check of texts, for surfaces whose schemas have no length limit. */

import { Failure } from '../../../conf/failures.js'

/** Throws `invalid` for a text of more than `charactersMax` characters; `what` names its field. */
export function refuseLonger(what: string, text: string | undefined, charactersMax: number): void {
  if (text === undefined || [...text].length <= charactersMax) return
  throw new Failure('invalid', `The ${what} has more than ${charactersMax} characters.`)
}
