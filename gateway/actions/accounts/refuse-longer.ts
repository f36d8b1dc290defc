/** Refuses texts that are too long, for surfaces whose schemas do not. */

import { Failure } from '../../../conf/failures.js'

/** Throws `invalid` for a text of more characters than that; `what` it is, is said. */
export function refuseLonger(what: string, text: string | undefined, charactersMax: number): void {
  if (text === undefined || [...text].length <= charactersMax) return
  throw new Failure('invalid', `The ${what} has more than ${charactersMax} characters.`)
}
