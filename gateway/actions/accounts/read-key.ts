/** An SSH key and what it is called, as somebody gives them. */

import { parseTitle } from '../../../conf/names.js'
import { parseSshKey, type SshKey } from '../../../conf/ssh-key.js'
import { refuseLonger } from './refuse-longer.js'

/** How long the title of a key may be. */
export const KEY_TITLE_CHARACTERS_MAX = 255

export interface SentKey {
  readonly title: string
  /** The line of a file that ends in `.pub`. */
  readonly key: string
}

/** The title and the key that were sent. Throws `invalid`. */
export function readKey(sent: SentKey): { readonly title: string; readonly key: SshKey } {
  refuseLonger('title', sent.title, KEY_TITLE_CHARACTERS_MAX)
  return { title: parseTitle(sent.title), key: parseSshKey(sent.key) }
}
