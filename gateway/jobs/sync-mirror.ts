/** Job that updates a mirror from its source; its subject is the repository's id. */

import { recover } from '../../cgi/maintenance/recovery.js'
import { repositorySizeKib } from '../../cgi/repository/repository.js'
import { type RemoteSource, updateFromRemote } from '../../cgi/transfer/clone.js'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { Failure } from '../../conf/failures.js'
import { enqueueJob } from '../../sql/admin/jobs.js'
import {
  findRepositoryById,
  type Repository,
  updateRepository,
} from '../../sql/repositories/repositories.js'
import {
  findMirror,
  type MirrorSource,
  noteMirrorTry,
} from '../../sql/repositories/repository-sources.js'
import { recordSize, wikiOf } from '../../sql/repositories/wikis.js'
import { updateLfs } from '../imports/import-lfs.js'
import { updateWiki } from '../imports/import-wiki.js'
import { boundsOf, resolveRemote } from '../outbound/git-remote.js'
import { unsealCredentials } from '../outbound/mirror-credentials.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { JobContext, JobKind } from './job.js'
import { MAINTAIN_REPOSITORY, maintenanceSubject } from './maintain-repository.js'

export const SYNC_MIRROR: JobKind = {
  kind: 'sync-mirror',
  storesData: true,
  async run(context, subject, signal) {
    const { db, log } = context
    const repository = await findRepositoryById(db, Number(subject))
    const mirror = await findMirror(db, Number(subject))
    if (repository === undefined || mirror === undefined || repository.isArchived) return
    const { id } = repository
    const { intervalMs } = mirror
    try {
      await update(context, { repository, mirror, signal })
      await noteMirrorTry(db, id, { intervalMs, hasSucceeded: true })
      log.info({ repository: id }, 'a mirror was updated')
    } catch (error) {
      // A stopping process waits for the recovery, so that an orderly stop leaves no stale files.
      if (signal.aborted) await recover(context.settings.data.dir, log)
      else context.pushRecovery.recoverPushes()
      if (!isSourceError(error)) throw error
      // The next attempt follows after the interval, or when its owner requests one.
      await noteMirrorTry(db, id, { intervalMs, hasSucceeded: false })
      log.warn({ repository: id, reason: (error as Error).message }, 'a mirror was not updated')
    }
  },
}

interface Update {
  readonly repository: Repository
  readonly mirror: MirrorSource
  readonly signal: AbortSignal
}

async function update(context: JobContext, { repository, mirror, signal }: Update): Promise<void> {
  const { db, settings, git, journal } = context
  const path = repositoryPathOf({ settings }, repository)
  const place = { dataDir: settings.data.dir, storage: repository.storage }
  const authorization = await unsealCredentials(place, mirror.credentialsSealed)
  const remote = await resolveRemote(context, { url: new URL(mirror.url), authorization })
  const source: RemoteSource = { ...boundsOf(settings), remote, signal, journal }
  const { defaultBranch = repository.defaultBranch } = await updateFromRemote(git, path, source)
  const sizeKib = await repositorySizeKib(path)
  await updateRepository(db, repository.id, {
    sizeKib,
    defaultBranch,
    isEmpty: false,
    pushedAtMs: Date.now(),
  })
  await enqueueMaintenance(context, repository)
  if (mirror.hasWiki && (await updateWiki(context, { ...repository, source }))) {
    const wiki = wikiOf(repository)
    await recordSize(db, wiki, await repositorySizeKib(repositoryPathOf({ settings }, wiki)))
    await enqueueMaintenance(context, wiki)
  }
  if (mirror.lfs !== undefined && settings.lfs.isEnabled) {
    const lfsAuthorization = await unsealCredentials(place, mirror.lfs.credentialsSealed)
    const server = { url: new URL(mirror.lfs.url), authorization: lfsAuthorization }
    await updateLfs(context, { ...server, path, repositoryId: repository.id, signal })
  }
}

async function enqueueMaintenance(
  { db, settings }: JobContext,
  repository: Repository,
): Promise<void> {
  const { kind } = MAINTAIN_REPOSITORY
  const { delayMs } = settings.maintenance
  await enqueueJob(db, { kind, subject: maintenanceSubject(repository), delayMs })
}

/** True if the cause is the source or the connection to it. */
function isSourceError(error: unknown): boolean {
  return (
    error instanceof RemoteError ||
    (error instanceof Failure && error.status !== 503 && error.status !== 507)
  )
}
