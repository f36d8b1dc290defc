/** Expired and abandoned artifacts are deleted, and their bytes with the next sweep of blobs. */

import t from 'tap'
import { SWEEP_ARTIFACTS } from '../../../gateway/jobs/sweep-artifacts.js'
import { storeBlob } from '../../../registry/keep-blob.js'
import { receiveFile } from '../../../registry/received-file.js'
import { sweepBlobs } from '../../../registry/sweeper.js'
import { placeFile } from '../../../sql/runs/artifact-parts.js'
import { completeArtifact, findArtifact, type NewArtifact } from '../../../sql/runs/artifacts.js'
import { updateTask } from '../../../sql/runs/tasks.js'
import { anArtifact, aRunningTask } from '../../helpers/artifact-rows.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'

t.test('a sweep deletes artifacts and frees their bytes', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db, registry } = context
  const { storage, digest } = registry
  const repository = await aRepository(db, (await fixture.addUser('ada')).id, 'engine')
  const ended = await aRunningTask(db, repository.id)
  const store = async (name: string, fields: Partial<NewArtifact> = {}) => {
    const artifact = await anArtifact(db, ended, { name, ...fields })
    const options = { folder: storage.incomingFolder, bytesMax: undefined, digest }
    const body = (async function* () {
      yield Buffer.from(name)
    })()
    const file = await receiveFile(body, options)
    const place = { artifact, path: '', isGzip: false }
    await storeBlob(storage, file, (blob) => placeFile(db, place, blob))
    await file.discard()
    return artifact
  }
  const kept = await store('kept')
  const old = await store('old', { expiresAtMs: Date.now() - 1 })
  await store('left')
  for (const artifact of [kept, old]) await completeArtifact(db, artifact)
  for (let at = 0; at < 250; at += 1) await anArtifact(db, ended, { name: `empty ${at}` })
  await updateTask(db, ended.taskId, { stoppedAtMs: Date.now() })
  const abort = new AbortController()
  abort.abort()
  await SWEEP_ARTIFACTS.run(context, 'all', abort.signal)
  t.equal((await db('workflow_artifacts').select('id')).length, 253, 'an aborted sweep')
  for (let runs = 0; runs < 2; runs += 1) {
    await SWEEP_ARTIFACTS.run(context, 'all', new AbortController().signal)
    t.strictSame(await db('workflow_artifacts').pluck('id'), [kept.id])
  }
  t.match(await findArtifact(db, kept.id), { name: 'kept', bytes: 4 })
  t.match(await sweepBlobs({ db, storage, graceMs: 0 }), { unused: 2, left: 0 })
  const stored: number[] = []
  for await (const { bytes } of storage.list()) stored.push(bytes)
  t.strictSame(stored, [4])
})
