/** Job that pushes the refs of a repository to a push mirror; its subject is the mirror's id. */

import { isEmptyRepository } from '../../cgi/repository/repository.js'
import { pushAllRefs } from '../../cgi/transfer/push-refs.js'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { Failure } from '../../conf/failures.js'
import {
  findPushMirrorById,
  notePushMirrorTry,
  type PushMirror,
} from '../../sql/repositories/push-mirrors.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { boundsOf, resolveRemote } from '../outbound/git-remote.js'
import { unsealCredentials } from '../outbound/mirror-credentials.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { JobContext, JobKind } from './job.js'

export const SYNC_PUSH_MIRROR: JobKind = {
  kind: 'sync-push-mirror',
  async run(context, subject, signal) {
    const { db, log } = context
    const mirror = await findPushMirrorById(db, Number(subject))
    if (mirror === undefined) return
    const repository = await findRepositoryById(db, mirror.repositoryId)
    if (repository === undefined || repository.isArchived) return
    const path = repositoryPathOf(context, repository)
    // A push without any ref would delete all refs of the mirror.
    if (await isEmptyRepository(path)) return
    const about = { repository: repository.id, mirror: mirror.remoteName }
    try {
      await push(context, { repository, path, mirror, signal })
      await notePushMirrorTry(db, mirror, '')
      log.info(about, 'a push mirror was updated')
    } catch (error) {
      if (signal.aborted || !isRemoteFault(error)) throw error
      const { message } = error
      await notePushMirrorTry(db, mirror, message)
      log.warn({ ...about, reason: message }, 'a push mirror was not updated')
    }
  },
}

interface MirrorPush {
  readonly repository: Repository
  readonly path: string
  readonly mirror: PushMirror
  readonly signal: AbortSignal
}

async function push(
  context: JobContext,
  { repository, path, mirror, signal }: MirrorPush,
): Promise<void> {
  const { settings, git, journal } = context
  const place = { dataDir: settings.data.dir, storage: repository.storage }
  const authorization = await unsealCredentials(place, mirror.credentialsSealed)
  const remote = await resolveRemote(context, { url: new URL(mirror.url), authorization })
  await pushAllRefs(git, path, { ...boundsOf(settings), remote, signal, journal })
}

/** True if the cause is the other server or the connection to it. */
function isRemoteFault(error: unknown): error is Error {
  return (
    error instanceof RemoteError ||
    (error instanceof Failure && error.status !== 503 && error.status !== 507)
  )
}
