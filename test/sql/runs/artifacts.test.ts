/** Artifacts are visible when they are complete, under one name in a run, until they expire. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { placeFile } from '../../../sql/runs/artifact-parts.js'
import {
  completeArtifact,
  deleteArtifact,
  findArtifact,
  findFile,
  findUpload,
  listArtifacts,
  listFiles,
  listRunArtifacts,
  removeDeadArtifacts,
} from '../../../sql/runs/artifacts.js'
import { removeRun } from '../../../sql/runs/remove-run.js'
import { findRunningTask, updateTask } from '../../../sql/runs/tasks.js'
import { anArtifact, aRunningTask } from '../../helpers/artifact-rows.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aBlobOf } from '../../helpers/release-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { aRun } from '../../helpers/run-rows.js'

async function aRepositoryOfAda(db: Database) {
  return await aRepository(db, (await aUser(db, 'ada')).id, 'engine')
}

const named = (name: string) => ({ name, limit: 10 })

await forEachMigrated(t, 'an artifact is listed when it is complete', async (t, db) => {
  const repository = await aRepositoryOfAda(db)
  const run = await aRun(db, repository.id)
  const task = await aRunningTask(db, repository.id, { run })
  const artifact = await anArtifact(db, task)
  const list = () => listRunArtifacts(db, run.id, { limit: 10 })
  const query = { repositoryId: repository.id }
  const page = { page: 1, limit: 10 }
  t.strictSame(await list(), [])
  t.match(await findUpload(db, task.taskId, 'build'), { id: artifact.id, isComplete: false })
  await placeFile(db, { artifact, path: '', isGzip: false }, aBlobOf('zip'))
  await completeArtifact(db, artifact)
  const [listed] = await list()
  const ids = { runId: run.id, jobId: task.jobId, taskId: task.taskId }
  t.match(listed, { id: artifact.id, ...ids, name: 'build', bytes: 3, isComplete: true })
  t.strictSame(await listRunArtifacts(db, run.id, named('build')), [listed])
  t.strictSame(await listRunArtifacts(db, run.id, named('Build')), [])
  t.strictSame(await listRunArtifacts(db, run.id, { id: artifact.id, limit: 1 }), [listed])
  t.strictSame(await listRunArtifacts(db, run.id, { id: artifact.id + 1, limit: 1 }), [])
  t.strictSame(await listRunArtifacts(db, run.id + 1, { limit: 10 }), [])
  t.strictSame(await listArtifacts(db, query, page), { entries: [listed], total: 1 })
  t.strictSame(await listArtifacts(db, { ...query, runId: run.id + 1 }, page), {
    entries: [],
    total: 0,
  })
  t.strictSame(await listArtifacts(db, query, { page: 2, limit: 10 }), { entries: [], total: 1 })
  const [file] = await listFiles(db, [artifact.id])
  t.match(file, { artifactId: artifact.id, path: '', isGzip: false, bytes: 3 })
  t.strictSame(await findFile(db, file?.id ?? 0), file)
  await deleteArtifact(db, artifact.id)
  t.strictSame(await list(), [])
  t.equal(await findFile(db, file?.id ?? 0), undefined)
})

await forEachMigrated(t, 'a run has one complete artifact of a name', async (t, db) => {
  const repository = await aRepositoryOfAda(db)
  const run = await aRun(db, repository.id)
  const one = await aRunningTask(db, repository.id, { run })
  const two = await aRunningTask(db, repository.id, { run })
  const other = await aRunningTask(db, repository.id)
  const given = await anArtifact(db, one)
  const repeated = await anArtifact(db, one)
  t.equal(await findArtifact(db, given.id), undefined, 'a repeated call replaces the upload')
  const concurrent = await anArtifact(db, two)
  await completeArtifact(db, repeated)
  const isConflict = { failure: 'conflict', message: /"build" already/ }
  await t.rejects(completeArtifact(db, concurrent), isConflict)
  await t.rejects(anArtifact(db, two), isConflict)
  await completeArtifact(db, await anArtifact(db, two, { name: 'BUILD' }))
  await completeArtifact(db, await anArtifact(db, other))
  await t.rejects(completeArtifact(db, given), {
    failure: 'not_found',
    message: /not being uploaded/,
  })
})

await forEachMigrated(t, 'a job has a limited number of artifacts', async (t, db) => {
  const task = await aRunningTask(db, (await aRepositoryOfAda(db)).id)
  const add = (name: string) => anArtifact(db, task, { name, countMax: 2 })
  await add('one')
  await completeArtifact(db, await add('two'))
  await t.rejects(add('three'), { message: 'A job has at most 2 artifacts.' })
  await add('one')
})

await forEachMigrated(t, 'expired and abandoned artifacts are removed', async (t, db) => {
  const repository = await aRepositoryOfAda(db)
  const [running, ended] = [
    await aRunningTask(db, repository.id),
    await aRunningTask(db, repository.id),
  ]
  const kept = await anArtifact(db, running, { name: 'kept' })
  const upload = await anArtifact(db, running, { name: 'upload' })
  const left = await anArtifact(db, ended, { name: 'left' })
  const done = await anArtifact(db, ended, { name: 'done' })
  const old = await anArtifact(db, ended, { name: 'old', expiresAtMs: Date.now() - 1 })
  for (const artifact of [kept, done, old]) await completeArtifact(db, artifact)
  t.equal(await findArtifact(db, old.id), undefined, 'an expired artifact is not found')
  t.strictSame(await listRunArtifacts(db, ended.runId, named('old')), [])
  await updateTask(db, ended.taskId, { stoppedAtMs: Date.now() })
  t.equal(await findRunningTask(db, ended.taskId), undefined)
  t.equal(await removeDeadArtifacts(db, Date.now(), 10), 2)
  t.equal(await removeDeadArtifacts(db, Date.now(), 10), 0)
  for (const { id } of [kept, upload, done]) t.match(await findArtifact(db, id), { id })
  t.equal(await findArtifact(db, left.id), undefined)
})

await forEachMigrated(t, 'artifacts are deleted with the run and the repository', async (t, db) => {
  const repository = await aRepositoryOfAda(db)
  const run = await aRun(db, repository.id)
  const ofRun = await anArtifact(db, await aRunningTask(db, repository.id, { run }))
  const other = await anArtifact(db, await aRunningTask(db, repository.id))
  for (const artifact of [ofRun, other]) {
    await placeFile(db, { artifact, path: '', isGzip: false }, aBlobOf('zip'))
    await completeArtifact(db, artifact)
  }
  await removeRun(db, run)
  t.equal(await findArtifact(db, ofRun.id), undefined)
  t.match(await findArtifact(db, other.id), { id: other.id })
  await deleteRepository(db, repository.id)
  t.equal(await findArtifact(db, other.id), undefined)
  t.strictSame(await db('workflow_artifact_files').select('id'), [])
})
