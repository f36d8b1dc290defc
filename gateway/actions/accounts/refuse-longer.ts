/** How long texts may be, for the doors that have no schema which says so. */

import { Failure } from '../../../conf/failures.js'

/** Throws `invalid` for a text of more characters than that; `what` it is, is said. */
export function refuseLonger(what: string, text: string | undefined, charactersMax: number): void {
  if (text === undefined || [...text].length <= charactersMax) return
  throw new Failure('invalid', `The ${what} has more than ${charactersMax} characters.`)
}
