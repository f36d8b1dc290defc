/** Authorization for the tasks of workflow runs, and for the artifacts that they upload. */

import { Failure, notFound } from '../../conf/failures.js'
import type { Database } from '../../sql/database/database.js'
import {
  type Artifact,
  type ArtifactFile,
  findArtifact,
  findFile,
} from '../../sql/runs/artifacts.js'
import { findRunningTask, type RunningTask } from '../../sql/runs/tasks.js'
import type { AddressSubject } from './artifact-address.js'
import type { Identity } from './authenticate.js'

export interface TaskGrant {
  readonly who: Identity
  readonly task: RunningTask
}

export interface ArtifactUploadGrant {
  readonly who: Identity
  /** Artifact that is not complete yet. */
  readonly artifact: Artifact
}

export interface ArtifactDownloadGrant {
  readonly who: Identity
  readonly artifact: Artifact
  readonly file: ArtifactFile
}

/** Authorizes the holder of a runtime token. */
export function authorizeTask(who: Identity): TaskGrant {
  if (who.kind !== 'task') throw new Failure('sign_in_required', 'Only jobs may call this.')
  return { who, task: who.task }
}

/**
 * Authorizes the upload that a signed address permits. Throws `forbidden` if the task of the
 * artifact has ended, and `not_found` if the artifact was deleted or is complete.
 */
export async function authorizeArtifactUpload(
  db: Database,
  who: Identity,
): Promise<ArtifactUploadGrant> {
  const artifact = await findArtifact(db, idOf(who, 'upload'))
  if (artifact === undefined || artifact.isComplete) throw notFound()
  if ((await findRunningTask(db, artifact.taskId)) === undefined) {
    throw new Failure('forbidden', 'The job that has begun this upload has ended.')
  }
  return { who, artifact }
}

/** Authorizes the download that a signed address permits. Throws `not_found`. */
export async function authorizeArtifactDownload(
  db: Database,
  who: Identity,
): Promise<ArtifactDownloadGrant> {
  const file = await findFile(db, idOf(who, 'download'))
  const artifact = file && (await findArtifact(db, file.artifactId))
  if (file === undefined || !artifact?.isComplete) throw notFound()
  return { who, artifact, file }
}

function idOf(who: Identity, mode: AddressSubject['mode']): number {
  if (who.kind !== 'address' || who.address.mode !== mode) {
    throw new Failure('forbidden', `The address does not permit the ${mode}.`)
  }
  return who.address.id
}
