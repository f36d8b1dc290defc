/** Error for a repository whose folder is missing: its disk is not mounted, or its data is lost. */

import { existsSync } from 'node:fs'
import { Failure } from '../../conf/failures.js'
import type { Settings } from '../../conf/settings.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { repositoryPathOf } from './repository-path.js'

type StoredRepository = Pick<Repository, 'storage' | 'isWiki'>

/**
 * Returns `unavailable` if the repository has no folder. The folder of a wiki is created with its
 * first page, so it is never reported.
 */
export function missingFolder(
  context: { readonly settings: Pick<Settings, 'data'> },
  repository: StoredRepository,
): Failure | undefined {
  if (repository.isWiki) return undefined
  const path = repositoryPathOf(context, repository)
  if (existsSync(path)) return undefined
  return new Failure('unavailable', MESSAGE, {
    cause: new Error(`the folder ${path} does not exist`),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

const MESSAGE =
  'The stored data of this repository is missing on the server. Ask an administrator to check the disk.'
const RETRY_AFTER_SECONDS = 60

/** Throws the error of `missingFolder`. */
export function requireStoredFolder(
  context: { readonly settings: Pick<Settings, 'data'> },
  repository: StoredRepository,
): void {
  const failure = missingFolder(context, repository)
  if (failure !== undefined) throw failure
}
