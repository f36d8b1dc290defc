/** Completion of artifacts of version 3, to which several jobs of a run add files. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { type Artifact, completeArtifact, countBytes } from './artifacts.js'

/** Number of paths in one statement. */
const PATHS = 500

/**
 * Makes the files of an upload visible. If the run has a complete artifact of version 3 with the
 * name, the files are added to it, and replace those with the same paths. Throws `conflict` for one
 * of version 4, and `payload_too_large` for more files than `filesMax`.
 */
export async function mergeArtifact(
  db: Database,
  upload: Pick<Artifact, 'id' | 'name' | 'runId'>,
  filesMax: number,
): Promise<void> {
  const { id, name, runId } = upload
  await transaction(db, async (trx) => {
    await trx('workflow_runs').where({ id: runId }).forUpdate().first('id')
    const own = await trx('workflow_artifacts').where({ id }).first('attempt')
    const known = { run_id: runId, attempt: own?.attempt ?? 0, complete_name: name, version: 3 }
    const target = await trx('workflow_artifacts').where(known).first('id')
    if (target === undefined) return await completeArtifact(trx, upload)
    const files = () => trx('workflow_artifact_files')
    const added: readonly string[] = await files().where({ artifact_id: id }).pluck('path')
    for (let at = 0; at < added.length; at += PATHS) {
      const paths = added.slice(at, at + PATHS)
      await files().where({ artifact_id: target.id }).whereIn('path', paths).delete()
    }
    const kept = await files().where({ artifact_id: target.id }).pluck('id')
    if (kept.length + added.length > filesMax) throw tooManyFiles(filesMax)
    await files().where({ artifact_id: id }).update({ artifact_id: target.id })
    await trx('workflow_artifacts').where({ id }).delete()
    await countBytes(trx, target.id)
  })
}

/** Returns the error for an artifact with more files than permitted. */
export function tooManyFiles(filesMax: number): Failure {
  return new Failure('payload_too_large', `An artifact has at most ${filesMax} files.`)
}
