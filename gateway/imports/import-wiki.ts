/** Import of the wiki of a repository on another server, which is at `REPOSITORY.wiki.git`. */

import type { Git } from '../../cgi/process/git.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { repositoryExists } from '../../cgi/repository/repository.js'
import {
  cloneRepository,
  inspectRemote,
  type RemoteSource,
  updateFromRemote,
} from '../../cgi/transfer/clone.js'
import { RemoteError } from '../../cgi/transfer/remote.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { wikiName, wikiStorage } from '../../sql/repositories/wikis.js'
import type { Context } from '../request/context.js'
import { markerOf } from '../request/repository-markers.js'

type WikiContext = Pick<Context, 'git' | 'settings'>

/** The repository of the wiki, and its source. */
export interface WikiImport extends Pick<Repository, 'owner' | 'name' | 'storage'> {
  /** Source of the repository. */
  readonly source: RemoteSource
}

/**
 * Clones the wiki, and returns true if the source has one. A source that refuses to list its refs
 * has none. Throws RemoteError if the wiki cannot be cloned.
 */
export async function importWiki(
  { git, settings }: WikiContext,
  { owner, name, storage, source }: WikiImport,
): Promise<boolean> {
  const wiki = wikiSource(source)
  if (!(await hasContents(git, wiki))) return false
  const path = repositoryPath(settings.data.dir, wikiStorage(storage))
  const marker = markerOf({ owner, name: wikiName(name) })
  await cloneRepository(git, path, { ...wiki, marker })
  return true
}

/**
 * Updates the wiki of a mirror, and returns true if the source has one. A wiki that the source has
 * no longer is kept. Throws RemoteError if the wiki cannot be fetched.
 */
export async function updateWiki(context: WikiContext, input: WikiImport): Promise<boolean> {
  const { git, settings } = context
  const path = repositoryPath(settings.data.dir, wikiStorage(input.storage))
  if (!(await repositoryExists(path))) return await importWiki(context, input)
  const wiki = wikiSource(input.source)
  if (!(await hasContents(git, wiki))) return false
  await updateFromRemote(git, path, wiki)
  return true
}

function wikiSource(source: RemoteSource): RemoteSource {
  const { remote } = source
  return { ...source, remote: { ...remote, url: wikiUrl(remote.url) } }
}

/** True if the source lists refs; a source that refuses to list them has no wiki. */
async function hasContents(git: Git, wiki: RemoteSource): Promise<boolean> {
  const summary = await inspectRemote(git, wiki).catch((error: unknown) => {
    if (error instanceof RemoteError && error.fault !== 'rate-limit') return undefined
    throw error
  })
  return summary !== undefined && !summary.isEmpty
}

function wikiUrl({ href }: URL): URL {
  return new URL(`${href.replace(/\/+$/, '').replace(/\.git$/, '')}.wiki.git`)
}
