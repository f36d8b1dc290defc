/** Parts of artifacts replace one another by name, and are limited in size and number. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { deleteUnusedBlob, listUnusedBlobs } from '../../../sql/packages/blobs.js'
import { addPart, freeBytes, listParts, placeFile } from '../../../sql/runs/artifact-parts.js'
import { completeArtifact, deleteArtifact, findArtifact } from '../../../sql/runs/artifacts.js'
import { anArtifact, aRunningTask } from '../../helpers/artifact-rows.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aBlobOf } from '../../helpers/release-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const LIMITS = {
  artifactBytesMax: 10,
  repositoryBytesMax: 15,
  ownerBytesMax: undefined,
  partsMax: 3,
}
const isTooLarge = { failure: 'payload_too_large', message: /at most 10 bytes.* at most 15 bytes/ }

const ofOwner = { failure: 'payload_too_large', message: /and those of its owner \d+\.$/ }

async function openUpload(db: Database) {
  const repository = await aRepository(db, (await aUser(db, 'ada')).id, 'engine')
  const task = await aRunningTask(db, repository.id)
  const artifact = await anArtifact(db, task)
  const add = (name: string, text: string, of = artifact) =>
    addPart(db, { artifact: of, path: '', name }, { blob: aBlobOf(text), limits: LIMITS })
  return { repository, task, artifact, add }
}

await forEachMigrated(t, 'a part replaces the one with its name', async (t, db) => {
  const { artifact, add } = await openUpload(db)
  t.strictSame(await add('a', 'one'), { blobKey: 'key of one' })
  await add('b', 'two')
  await add('a', 'three')
  const parts = await listParts(db, artifact.id, '')
  t.strictSame(parts.map(({ name, blobKey }) => `${name} ${blobKey}`).toSorted(), [
    'a key of three',
    'b key of two',
  ])
  t.match(await findArtifact(db, artifact.id), { bytes: 8 })
  t.strictSame(await listParts(db, artifact.id, 'other'), [])
})

await forEachMigrated(t, 'the sizes of an artifact and a repository are limited', async (t, db) => {
  const { task, artifact, add } = await openUpload(db)
  const other = await anArtifact(db, task, { name: 'other' })
  await add('a', '12345678')
  await t.rejects(add('b', '123'), isTooLarge)
  await add('b', '12')
  await add('a', '12345678')
  await t.rejects(add('a', '123456789'), isTooLarge, 'a replaced part counts once')
  t.equal(await freeBytes(db, artifact, LIMITS), 0)
  t.equal(await freeBytes(db, other, LIMITS), 5, 'the rest of the repository')
  await t.rejects(add('a', '123456', other), isTooLarge)
  await add('a', '12345', other)
})

await forEachMigrated(t, 'the size of the artifacts of an owner is limited', async (t, db) => {
  const { repository, add } = await openUpload(db)
  const second = await aRepository(db, repository.owner.id, 'second')
  const foreign = await aRepository(db, (await aUser(db, 'bob')).id, 'engine')
  const [ofSecond, ofForeign] = [
    await anArtifact(db, await aRunningTask(db, second.id)),
    await anArtifact(db, await aRunningTask(db, foreign.id)),
  ]
  await add('a', '12345678')
  const limits = { ...LIMITS, ownerBytesMax: 12 }
  const put = (text: string, of = ofSecond) =>
    addPart(db, { artifact: of, path: '', name: 'a' }, { blob: aBlobOf(text), limits })
  await t.rejects(put('12345'), ofOwner)
  await put('1234')
  t.equal(await freeBytes(db, ofSecond, limits), 0)
  t.equal(await freeBytes(db, ofForeign, limits), 10, 'another owner has an own limit')
  await put('1234567890', ofForeign)
})

await forEachMigrated(
  t,
  'concurrent uploads to repositories of an owner do not exceed the limit together',
  async (t, db) => {
    const { id: ownerId } = await aUser(db, 'ada')
    const uploads: Awaited<ReturnType<typeof anArtifact>>[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const { id } = await aRepository(db, ownerId, name)
      uploads.push(await anArtifact(db, await aRunningTask(db, id)))
    }
    const limits = { ...LIMITS, ownerBytesMax: 4 }
    // Connections are opened first, so that the uploads overlap.
    await Promise.all(uploads.map(({ id }) => findArtifact(db, id)))
    const puts = uploads.map((artifact, index) =>
      addPart(db, { artifact, path: '', name: 'a' }, { blob: aBlobOf(`12${index}`), limits }),
    )
    const ended = await Promise.allSettled(puts)
    t.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const one of ended) if (one.status === 'rejected') t.match(one.reason, ofOwner)
  },
)

await forEachMigrated(t, 'an upload has a limited number of parts', async (t, db) => {
  const { add } = await openUpload(db)
  for (const name of ['a', 'b', 'c']) await add(name, '')
  await t.rejects(add('d', ''), { message: 'An upload has at most 3 parts.' })
})

await forEachMigrated(t, 'a complete artifact takes no part and no file', async (t, db) => {
  const { artifact, add } = await openUpload(db)
  await add('a', 'one')
  const file = { artifact, path: '', isGzip: true }
  t.strictSame(await placeFile(db, file, aBlobOf('file')), { blobKey: 'key of file' })
  await placeFile(db, file, aBlobOf('newer'))
  await completeArtifact(db, artifact)
  t.match(await findArtifact(db, artifact.id), { bytes: 5 }, 'the parts are dropped')
  const isRefused = { failure: 'not_found', message: /not being uploaded/ }
  await t.rejects(add('b', 'two'), isRefused)
  await t.rejects(placeFile(db, file, aBlobOf('two')), isRefused)
})

await forEachMigrated(t, 'blobs of parts and files are in use', async (t, db) => {
  const { artifact, add } = await openUpload(db)
  await add('a', 'part')
  await placeFile(db, { artifact, path: '', isGzip: false }, aBlobOf('file'))
  t.strictSame(await listUnusedBlobs(db, { afterId: 0, limit: 5 }), [])
  const ids: readonly { id: number }[] = await db('blobs').select('id')
  for (const { id } of ids) t.equal(await deleteUnusedBlob(db, id), false)
  await deleteArtifact(db, artifact.id)
  const unused = await listUnusedBlobs(db, { afterId: 0, limit: 5 })
  t.strictSame(unused.map(({ key }) => key).toSorted(), ['key of file', 'key of part'])
})
