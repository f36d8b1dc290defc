/** Repositories that arguments of commands name as OWNER/REPO. */

import type { Database } from '../../sql/database/database.js'
import { findRepository, type Repository } from '../../sql/repositories/repositories.js'
import { CommandError, UsageError } from './command.js'

export interface FullName {
  readonly owner: string
  readonly name: string
}

/** Parses OWNER/REPO. Throws UsageError for any other text. */
export function parseFullName(text: string): FullName {
  const [owner = '', name = '', ...more] = text.split('/')
  if (owner !== '' && name !== '' && more.length === 0) return { owner, name }
  throw new UsageError('a repository is named as OWNER/REPO')
}

/** Returns the repository with that name. Throws CommandError if there is none. */
export async function requireRepository(
  db: Database,
  { owner, name }: FullName,
): Promise<Repository> {
  const repository = await findRepository(db, owner, name)
  if (repository === undefined) throw new CommandError(`there is no repository ${owner}/${name}`)
  return repository
}
