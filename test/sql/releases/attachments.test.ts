/** Attachments are found within their release, share blobs, and prevent their deletion. */

import { randomUUID } from 'node:crypto'
import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { deleteUnusedBlob, listUnusedBlobs } from '../../../sql/packages/blobs.js'
import {
  addAttachment,
  addAttachmentDownloads,
  deleteAttachment,
  findAttachment,
  findAttachmentByName,
  findAttachmentByUuid,
  listAttachments,
  renameAttachment,
} from '../../../sql/releases/attachments.js'
import { deleteRelease } from '../../../sql/releases/releases.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aBlobOf, aRelease } from '../../helpers/release-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'

async function twoReleases(db: Database) {
  const repository = await aRepository(db, (await aUser(db, 'ada')).id, 'engine')
  const one = await aRelease(db, repository, 'v1')
  const two = await aRelease(db, repository, 'v2', { isDraft: true })
  const add = (releaseId: number, name: string, text = name) =>
    addAttachment(db, { uuid: randomUUID(), releaseId, name }, aBlobOf(text, `key ${randomUUID()}`))
  return { repository, one, two, add }
}

await forEachMigrated(t, 'an attachment is found by id, name and UUID', async (t, db) => {
  const { repository, one, two, add } = await twoReleases(db)
  const made = await add(one.id, 'Ünö.bin', 'héllo')
  const { digests } = aBlobOf('héllo')
  t.match(made, { name: 'Ünö.bin', bytes: 6, digests, downloads: 0 })
  t.match(made, { releaseId: one.id, repositoryId: repository.id, isOfDraft: false })
  t.strictSame(await findAttachment(db, one.id, made.id), made)
  t.strictSame(await findAttachmentByName(db, one.id, 'Ünö.bin'), made)
  t.strictSame(await findAttachmentByUuid(db, made.uuid), made)
  t.equal(await findAttachment(db, two.id, made.id), undefined, 'not in another release')
  t.equal(await findAttachmentByName(db, two.id, 'Ünö.bin'), undefined)
  for (const other of ['ünö.bin', 'Uno.bin', 'Ünö.bin ', '']) {
    t.equal(await findAttachmentByName(db, one.id, other), undefined, other)
  }
  for (const uuid of ['', made.uuid.toUpperCase(), `${made.uuid} `]) {
    t.equal(await findAttachmentByUuid(db, uuid), undefined, uuid)
  }
  const later = await add(one.id, 'Ünö.bin', 'later')
  t.strictSame(await findAttachmentByName(db, one.id, 'Ünö.bin'), later, 'the latest of one name')
  t.equal((await add(two.id, 'draft')).isOfDraft, true)
})

await forEachMigrated(t, 'attachments of several releases are listed in order', async (t, db) => {
  const { one, two, add } = await twoReleases(db)
  for (const [id, name] of [
    [two.id, 'b'],
    [one.id, 'c'],
    [one.id, 'a'],
  ] as const) {
    await add(id, name)
  }
  const names = async (...ids: readonly number[]) =>
    (await listAttachments(db, ids)).map(({ name }) => name)
  t.strictSame(await names(one.id, two.id), ['b', 'c', 'a'])
  t.strictSame(await names(one.id), ['c', 'a'])
  t.strictSame(await names(), [])
})

await forEachMigrated(t, 'equal bytes are one blob until no attachment uses it', async (t, db) => {
  const { repository, one, two, add } = await twoReleases(db)
  const first = await add(one.id, 'a', 'same')
  const second = await add(two.id, 'b', 'same')
  t.equal(second.blobKey, first.blobKey)
  const unused = async () => (await listUnusedBlobs(db, { afterId: 0, limit: 9 })).length
  t.equal(await deleteAttachment(db, first.id), true)
  t.equal(await deleteAttachment(db, first.id), false)
  t.equal(await unused(), 0)
  const [blob] = await db('blobs')
  t.equal(await deleteUnusedBlob(db, blob.id), false, 'the other attachment uses it')
  await deleteRelease(db, two.id)
  t.strictSame(await db('attachments'), [], 'attachments are deleted with their release')
  t.equal(await unused(), 1)
  await add(one.id, 'c', 'same')
  await deleteRepository(db, repository.id)
  t.equal(await unused(), 1, 'and with their repository')
  t.equal(await deleteUnusedBlob(db, blob.id), true)
})

await forEachMigrated(t, 'an attachment of a deleted release is refused', async (t, db) => {
  const { one, add } = await twoReleases(db)
  await deleteRelease(db, one.id)
  await t.rejects(add(one.id, 'a'), { failure: 'not_found', message: /release does not exist/ })
  t.strictSame(await db('blobs'), [], 'no blob is kept')
})

await forEachMigrated(
  t,
  'an attachment is renamed, and its downloads are counted',
  async (t, db) => {
    const { one, add } = await twoReleases(db)
    const [a, b] = [await add(one.id, 'a'), await add(one.id, 'b')]
    await renameAttachment(db, a.id, 'c')
    await addAttachmentDownloads(db, new Map())
    const more = new Map([
      [a.id, 2],
      [b.id, 1],
    ])
    await Promise.all([addAttachmentDownloads(db, more), addAttachmentDownloads(db, more)])
    t.strictSame(
      (await listAttachments(db, [one.id])).map(({ name, downloads }) => [name, downloads]),
      [
        ['c', 4],
        ['b', 2],
      ],
    )
  },
)
