/** Validation of SSH keys that users add. */

import { parseTitle } from '../../../conf/names.js'
import { parseSshKey, type SshKey } from '../../../conf/ssh-key.js'
import { refuseLonger } from './refuse-longer.js'

/** Maximum number of characters of the title. */
export const KEY_TITLE_CHARACTERS_MAX = 255

export interface SentKey {
  readonly title: string
  /** Line of a public key file, such as `id_ed25519.pub`. */
  readonly key: string
}

/** Parses the title and the key. Throws `invalid`. */
export function readKey(sent: SentKey): { readonly title: string; readonly key: SshKey } {
  refuseLonger('title', sent.title, KEY_TITLE_CHARACTERS_MAX)
  return { title: parseTitle(sent.title), key: parseSshKey(sent.key) }
}
