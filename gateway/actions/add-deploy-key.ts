/** Lets a machine into a repository by its SSH key, as a person pastes it. */

import type { Database } from '../../sql/database.js'
import { addDeployKey, type DeployKey } from '../../sql/deploy-keys.js'
import { readKey } from './read-key.js'

export interface DeployKeyWish extends Pick<DeployKey, 'repositoryId' | 'title' | 'mode'> {
  /** The line of a file that ends in `.pub`. */
  readonly line: string
}

/** Throws `invalid` for what is no key or title, and for a key or title that is taken. */
export async function letKeyIn(
  db: Database,
  { line, title, ...wish }: DeployKeyWish,
): Promise<DeployKey> {
  return await addDeployKey(db, { ...wish, ...readKey({ title, key: line }) })
}
