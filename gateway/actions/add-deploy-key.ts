/** Lets a machine into a repository by its SSH key, as a person pastes it. */

import { parseTitle } from '../../conf/names.js'
import { parseSshKey } from '../../conf/ssh-key.js'
import type { Database } from '../../sql/database.js'
import { addDeployKey, type DeployKey } from '../../sql/deploy-keys.js'
import { refuseLonger } from './refuse-longer.js'

export const KEY_TITLE_CHARACTERS_MAX = 255

export interface DeployKeyWish extends Pick<DeployKey, 'repositoryId' | 'title' | 'mode'> {
  /** The line of a file that ends in `.pub`. */
  readonly line: string
}

/** Throws `invalid` for what is no key or title, and for a key or title that is taken. */
export async function letKeyIn(
  db: Database,
  { line, title, ...wish }: DeployKeyWish,
): Promise<DeployKey> {
  refuseLonger('title', title, KEY_TITLE_CHARACTERS_MAX)
  return await addDeployKey(db, { ...wish, title: parseTitle(title), key: parseSshKey(line) })
}
