/** An SSH key and what it is called, as somebody gives them. */

import { Failure } from '../../conf/failures.js'
import { parseTitle } from '../../conf/names.js'
import { parseSshKey, type SshKey } from '../../conf/ssh-key.js'

/** How long the title of a key may be. */
export const KEY_TITLE_CHARACTERS_MAX = 255

export interface SentKey {
  readonly title: string
  readonly key: string
}

/** The title and the key that were sent. Throws `invalid`. */
export function readKey(sent: SentKey): { readonly title: string; readonly key: SshKey } {
  const title = parseTitle(sent.title)
  if ([...title].length > KEY_TITLE_CHARACTERS_MAX) {
    throw new Failure('invalid', `A title has at most ${KEY_TITLE_CHARACTERS_MAX} characters.`)
  }
  return { title, key: parseSshKey(sent.key) }
}
