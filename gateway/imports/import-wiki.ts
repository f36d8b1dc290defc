/** Import of the wiki of a repository on another server, which is at `REPOSITORY.wiki.git`. */

import { repositoryPath } from '../../cgi/repository/paths.js'
import { cloneRepository, inspectRemote, type RemoteSource } from '../../cgi/transfer/clone.js'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { wikiStorage } from '../../sql/repositories/wikis.js'
import type { Context } from '../request/context.js'

export interface WikiImport {
  /** Storage key of the repository. */
  readonly storage: string
  /** Source of the repository. */
  readonly source: RemoteSource
}

/**
 * Clones the wiki, and returns true if the source has one. A source that refuses to list its refs
 * has none. Throws RemoteError if the wiki cannot be cloned.
 */
export async function importWiki(
  { git, settings }: Pick<Context, 'git' | 'settings'>,
  { storage, source }: WikiImport,
): Promise<boolean> {
  const { remote } = source
  const wiki = { ...source, remote: { ...remote, url: wikiUrl(remote.url) } }
  const summary = await inspectRemote(git, wiki).catch((error: unknown) => {
    if (error instanceof RemoteError && error.fault !== 'rate-limit') return undefined
    throw error
  })
  if (summary === undefined || summary.isEmpty) return false
  await cloneRepository(git, repositoryPath(settings.data.dir, wikiStorage(storage)), wiki)
  return true
}

function wikiUrl({ href }: URL): URL {
  return new URL(`${href.replace(/\/+$/, '').replace(/\.git$/, '')}.wiki.git`)
}
