/** Wikis: the Git data of one is a second folder of its repository, without a row of its own. */

import type { Database } from '../database/database.js'
import type { Repository } from './repositories.js'

/** Results by repository, so that all calls for one row return the same object. */
const wikis = new WeakMap<Repository, Repository>()

/**
 * Returns the wiki of a repository as a repository of that id and access, with the wiki's name
 * (`NAME.wiki`), storage key and size. The folder exists only after the first write.
 */
export function wikiOf(repository: Repository): Repository {
  const known = wikis.get(repository)
  if (known !== undefined) return known
  const { name, storage, wikiSizeKib } = repository
  const own = { name: wikiName(name), storage: wikiStorage(storage), sizeKib: wikiSizeKib }
  const wiki = Object.freeze({ ...repository, ...own, isWiki: true as const })
  wikis.set(repository, wiki)
  return wiki
}

/** Returns the name of the wiki of the repository with that name. */
export function wikiName(name: string): string {
  return `${name}.wiki`
}

/** Returns the storage key of the wiki of the repository with that storage key. */
export function wikiStorage(storage: string): string {
  return `${storage}.wiki`
}

/** Returns true if wikis are enabled in the repository. */
export function hasWiki({ preferences }: Pick<Repository, 'preferences'>): boolean {
  return preferences['has_wiki'] !== false
}

/** Stores the measured size of a repository or a wiki, which does not count as an update. */
export async function recordSize(
  db: Database,
  { id, isWiki }: Pick<Repository, 'id' | 'isWiki'>,
  sizeKib: number,
): Promise<void> {
  const column = isWiki ? 'wiki_size_kib' : 'size_kib'
  await db('repositories')
    .where({ id })
    .update({ [column]: sizeKib })
}
