/** Artifacts of workflow runs. They are complete, or an upload that only its task knows. */

import { Failure } from '../../conf/failures.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { BLOB_COLUMNS, type BlobRow, blobOf } from '../packages/blobs.js'
import type { RunningTask } from './tasks.js'

export interface Artifact {
  readonly id: number
  readonly repositoryId: number
  readonly runId: number
  readonly jobId: number
  /** Task that has created the artifact. */
  readonly taskId: number
  /** Version of the protocol of the upload: 4 stores one zip archive, 3 any number of files. */
  readonly version: ArtifactVersion
  readonly name: string
  readonly isComplete: boolean
  /** Size of the files and of the parts that were uploaded. */
  readonly bytes: number
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

export type ArtifactVersion = 3 | 4

/** File of an artifact. The path is empty if the artifact has only this file. */
export interface ArtifactFile extends ReturnType<typeof blobOf> {
  readonly id: number
  readonly artifactId: number
  readonly path: string
  /** True if the client has compressed the file with gzip. */
  readonly isGzip: boolean
}

export interface NewArtifact extends Pick<Artifact, 'name' | 'version' | 'expiresAtMs'> {
  readonly task: RunningTask
  /** Maximum number of artifacts of a job. */
  readonly countMax: number
}

/**
 * Inserts an artifact without files. An earlier upload of the task with that name is deleted,
 * because a client that got no answer repeats the call. Throws `conflict` if the run has a complete
 * artifact with that name, unless both are of version 3, and `forbidden` if the job has too many.
 */
export async function createArtifact(db: Database, artifact: NewArtifact): Promise<number> {
  const { task, name, version, expiresAtMs, countMax } = artifact
  const { taskId, jobId, runId, repositoryId, attempt } = task
  checkText(name)
  return await transaction(db, async (trx) => {
    // Serializes the jobs of a run, so that concurrent calls are counted.
    await trx('workflow_runs').where({ id: runId }).forUpdate().first('id')
    const known = { run_id: runId, attempt, complete_name: name }
    const other = await trx('workflow_artifacts').where(known).first('version')
    if (other !== undefined && (version === 4 || other.version === 4)) throw taken(name)
    await trx('workflow_artifacts')
      .where({ task_id: taskId, name })
      .whereNull('complete_name')
      .delete()
    const [counted] = await selectRows<{ total: number }>(
      trx,
      'select count(*) as total from workflow_artifacts a where a.job_id = ?',
      [jobId],
    )
    if (Number(counted?.total) >= countMax) {
      throw new Failure('forbidden', `A job has at most ${countMax} artifacts.`)
    }
    const [id] = await trx('workflow_artifacts').insert({
      repository_id: repositoryId,
      run_id: runId,
      attempt,
      job_id: jobId,
      task_id: taskId,
      version,
      name,
      complete_name: null,
      bytes: 0,
      created_at: Date.now(),
      expires_at: expiresAtMs,
    })
    if (id === undefined) throw new Error('The insert returned no id.')
    return id
  })
}

function taken(name: string): Failure {
  return new Failure('conflict', `The run has an artifact named ${JSON.stringify(name)} already.`)
}

/**
 * Makes an artifact visible, and drops the parts of its upload. Throws `conflict` if the run has
 * another complete artifact with its name, and `not_found` if the upload was deleted meanwhile.
 */
export async function completeArtifact(
  db: Database,
  { id, name }: Pick<Artifact, 'id' | 'name'>,
): Promise<void> {
  await orConflict(taken(name).message, () =>
    transaction(db, async (trx) => {
      const changes = { complete_name: name }
      const changed = await trx('workflow_artifacts').where({ id }).update(changes)
      if (changed === 0) throw new Failure('not_found', 'The artifact is not being uploaded.')
      await trx('workflow_artifact_parts').where({ artifact_id: id }).delete()
      await countBytes(trx, id)
    }),
  )
}

/** Stores the size of an artifact: that of its files and parts. */
export async function countBytes(trx: Database, artifactId: number): Promise<void> {
  const [row] = await selectRows<{ total: number }>(
    trx,
    `select coalesce(sum(b.bytes), 0) as total from (
        select f.blob_id from workflow_artifact_files f where f.artifact_id = ?
        union all select p.blob_id from workflow_artifact_parts p where p.artifact_id = ?
      ) used join blobs b on b.id = used.blob_id`,
    [artifactId, artifactId],
  )
  const bytes = Number(row?.total ?? 0)
  await trx('workflow_artifacts').where({ id: artifactId }).update({ bytes })
}

/** Returns an artifact by its id, complete or not, unless it has expired. */
export async function findArtifact(db: Database, id: number): Promise<Artifact | undefined> {
  return (await selectArtifacts(db, 'a.id = ? and a.expires_at > ?', [id, Date.now()]))[0]
}

/** Returns the task's artifact with that name, complete or not. */
export async function findUpload(
  db: Database,
  taskId: number,
  name: string,
): Promise<Artifact | undefined> {
  const condition = 'a.task_id = ? and a.name = ? order by a.id desc limit 1'
  return (await selectArtifacts(db, condition, [taskId, checkText(name)]))[0]
}

export interface ArtifactFilter {
  readonly name?: string | undefined
  readonly id?: number | undefined
}

/** Returns the complete artifacts of a run, newest first. */
export async function listRunArtifacts(
  db: Database,
  runId: number,
  { name, id, limit }: ArtifactFilter & { readonly limit: number },
): Promise<readonly Artifact[]> {
  const { condition, bindings } = conditionOf({ runId, name, id })
  const order = 'order by a.id desc limit ?'
  return await selectArtifacts(db, `${condition} ${order}`, [...bindings, limit])
}

/** Returns the complete artifacts of a repository or of one of its runs, newest first. */
export async function listArtifacts(
  db: Database,
  { repositoryId, runId, name }: ListQuery,
  page: Page,
): Promise<Paged<Artifact>> {
  const { condition, bindings } = conditionOf({ repositoryId, runId, name })
  const [row] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from workflow_artifacts a where ${condition}`,
    bindings,
  )
  const limits = [page.limit, offsetOf(page)]
  const ordered = `${condition} order by a.id desc limit ? offset ?`
  const entries = await selectArtifacts(db, ordered, [...bindings, ...limits])
  return { entries, total: Number(row?.total ?? 0) }
}

interface ListQuery {
  readonly repositoryId: number
  readonly runId?: number | undefined
  readonly name?: string | undefined
}

function conditionOf(values: Partial<ListQuery & ArtifactFilter>) {
  const columns = { repositoryId: 'repository_id', runId: 'run_id', id: 'id', name: 'name' }
  const conditions = ['a.complete_name is not null', 'a.expires_at > ?']
  const bindings: (string | number)[] = [Date.now()]
  for (const [key, column] of Object.entries(columns)) {
    const value = values[key as keyof typeof columns]
    if (value === undefined) continue
    conditions.push(`a.${column} = ?`)
    bindings.push(typeof value === 'string' ? checkText(value) : value)
  }
  return { condition: conditions.join(' and '), bindings }
}

/** Returns the files of artifacts, by their paths. */
export async function listFiles(
  db: Database,
  artifactIds: readonly number[],
): Promise<readonly ArtifactFile[]> {
  if (artifactIds.length === 0) return []
  const places = artifactIds.map(() => '?').join()
  return await selectFiles(db, `f.artifact_id in (${places}) order by f.path`, artifactIds)
}

/** Returns a file by its id. */
export async function findFile(db: Database, id: number): Promise<ArtifactFile | undefined> {
  return (await selectFiles(db, 'f.id = ?', [id]))[0]
}

/** Deletes an artifact; a sweep deletes its bytes later. */
export async function deleteArtifact(db: Database, id: number): Promise<void> {
  await db('workflow_artifacts').where({ id }).delete()
}

/**
 * Deletes up to `limit` artifacts that have expired, or whose task has ended before the upload was
 * complete. Returns their number.
 */
export async function removeDeadArtifacts(
  db: Database,
  nowMs: number,
  limit: number,
): Promise<number> {
  const expired = await selectRows<{ id: number }>(
    db,
    'select a.id from workflow_artifacts a where a.expires_at <= ? order by a.expires_at limit ?',
    [nowMs, limit],
  )
  const abandoned = await selectRows<{ id: number }>(
    db,
    `select a.id from workflow_artifacts a where a.complete_name is null and not exists (
        select 1 from workflow_tasks t where t.id = a.task_id and t.stopped_at is null
      ) order by a.id limit ?`,
    [limit],
  )
  const ids = new Set([...expired, ...abandoned].map(({ id }) => id))
  for (const id of ids) await deleteArtifact(db, id)
  return ids.size
}

async function selectArtifacts(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly Artifact[]> {
  const rows = await selectRows<ArtifactRow>(
    db,
    `select a.id, a.repository_id, a.run_id, a.job_id, a.task_id, a.version, a.name,
      a.complete_name, a.bytes, a.created_at, a.expires_at
      from workflow_artifacts a where ${condition}`,
    bindings,
  )
  return rows.map((row) => ({
    id: row.id,
    repositoryId: row.repository_id,
    runId: row.run_id,
    jobId: row.job_id,
    taskId: row.task_id,
    version: row.version,
    name: row.name,
    isComplete: row.complete_name !== null,
    bytes: row.bytes,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  }))
}

interface ArtifactRow {
  readonly id: number
  readonly repository_id: number
  readonly run_id: number
  readonly job_id: number
  readonly task_id: number
  readonly version: ArtifactVersion
  readonly name: string
  readonly complete_name: string | null
  readonly bytes: number
  readonly created_at: number
  readonly expires_at: number
}

async function selectFiles(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly ArtifactFile[]> {
  const rows = await selectRows<FileRow>(
    db,
    `select f.id, f.artifact_id, f.path, f.is_gzip, ${BLOB_COLUMNS}
      from workflow_artifact_files f join blobs b on b.id = f.blob_id where ${condition}`,
    bindings,
  )
  return rows.map((row) => ({
    id: row.id,
    artifactId: row.artifact_id,
    path: row.path,
    isGzip: row.is_gzip === 1,
    ...blobOf(row),
  }))
}

interface FileRow extends BlobRow {
  readonly id: number
  readonly artifact_id: number
  readonly path: string
  readonly is_gzip: number
}
