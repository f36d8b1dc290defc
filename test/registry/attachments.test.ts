/** Attachments: size limit, deduplication, downloads, and removal of unused blobs. */

import { readdir } from 'node:fs/promises'
import t, { type Test } from 'tap'
import {
  keepAttachment,
  keepIssueAttachment,
  receiveAttachment,
  serveAttachment,
} from '../../registry/attachments.js'
import { sweepBlobs } from '../../registry/sweeper.js'
import { attachmentsOfIssues } from '../../sql/issues/issue-attachments.js'
import { createIssue } from '../../sql/issues/issues.js'
import { deleteAttachment, findAttachment } from '../../sql/releases/attachments.js'
import { deleteRelease } from '../../sql/releases/releases.js'
import { chunksOf, collect } from '../helpers/byte-chunks.js'
import { openContext } from '../helpers/gateway.js'
import { aRelease } from '../helpers/release-rows.js'
import { aRepository } from '../helpers/rows.js'

async function attachmentFixture(t: Test) {
  const { context, fixture } = await openContext(t)
  const { registry } = context
  const { db } = fixture
  const repository = await aRepository(db, (await fixture.addUser('ada')).id, 'engine')
  const release = await aRelease(db, repository, 'v1')
  const author = { repositoryId: repository.id, authorId: repository.owner.id }
  const issue = await createIssue(db, { ...author, isPull: false, title: 'x', content: '' })
  const receive = async (text: string, bytesMax = 100) => {
    const body = chunksOf(Buffer.from(text), 10)
    const file = await receiveAttachment(registry, body, bytesMax)
    t.teardown(() => file.discard())
    return file
  }
  const keep = async (name: string, text: string) =>
    keepAttachment(registry, await receive(text), { releaseId: release.id, name })
  const keys = async () => {
    const found: string[] = []
    for await (const { key } of registry.storage.list()) found.push(key)
    return found
  }
  return { registry, db, release, issue, receive, keep, keys }
}

t.test('more bytes than the limit are refused while they arrive', async (t) => {
  const { registry, receive } = await attachmentFixture(t)
  t.equal((await receive('x'.repeat(100))).bytes, 100)
  let sent = 0
  async function* endless() {
    for (; ; sent += 10) yield Buffer.alloc(10)
  }
  const refused = receiveAttachment(registry, endless(), 100)
  await t.rejects(refused, { failure: 'payload_too_large', message: /larger than 100 bytes/ })
  t.equal(sent, 100, 'and no further chunk is read')
  t.equal((await readdir(registry.storage.incomingFolder)).length, 1)
})

t.test('equal bytes are stored once and removed when no attachment uses them', async (t) => {
  const { registry, db, release, keep, keys } = await attachmentFixture(t)
  const [one, two] = [await keep('a', 'same'), await keep('b', 'same')]
  t.not(one.uuid, two.uuid)
  t.strictSame(await keys(), [one.blobKey])
  t.equal(two.blobKey, one.blobKey)
  const sweep = () => sweepBlobs({ db, storage: registry.storage })
  await deleteAttachment(db, one.id)
  t.strictSame(await sweep(), { unused: 0, left: 0 })
  const reply = await serveAttachment(registry, two, { method: 'GET', headers: new Map() })
  t.equal(String(reply.body), 'same')
  await deleteRelease(db, release.id)
  t.strictSame(await sweep(), { unused: 1, left: 0 })
  t.strictSame(await keys(), [])
  await t.rejects(keep('c', 'late'), { failure: 'not_found', message: /release/ })
  t.strictSame(await keys(), [], 'an attachment without a row is not kept')
})

t.test('a GET from the first byte is counted, HEAD and later ranges are not', async (t) => {
  const { registry, db, issue, receive, keep } = await attachmentFixture(t)
  const kept = await keep('a', 'x'.repeat(70))
  const serve = (method: string, headers: Readonly<Record<string, string>> = {}) =>
    serveAttachment(registry, kept, { method, headers: new Map(Object.entries(headers)) })
  const whole = await serve('GET')
  t.equal(whole.status, 200)
  const bytes = await collect(chunksOf(Buffer.from(whole.body as Uint8Array)))
  t.equal(bytes.length, 70)
  t.equal((await serve('HEAD')).bodyBytes, 70)
  t.equal((await serve('GET', { range: 'bytes=0-3' })).status, 206)
  t.equal((await serve('GET', { range: 'bytes=4-' })).status, 206)
  t.equal((await serve('GET', { 'if-none-match': '*' })).status, 304)
  await registry.attachmentDownloads.flush()
  t.equal((await findAttachment(db, kept.releaseId, kept.id))?.downloads, 2)
  const of = { issueId: issue.id, commentId: undefined, uploaderId: issue.authorId ?? 0, name: 'a' }
  const attached = await keepIssueAttachment(registry, await receive('y'), of)
  await serveAttachment(registry, attached, { method: 'GET', headers: new Map() })
  await registry.issueAttachmentDownloads.flush()
  t.match(await attachmentsOfIssues(db, [issue.id]), [{ id: attached.id, downloads: 1 }])
  t.equal((await findAttachment(db, kept.releaseId, kept.id))?.downloads, 2, 'counted separately')
})
