/** The configured storage is opened. */

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadSettings } from '../../../conf/load.js'
import { openStorage } from '../../../registry/storage/open.js'
import { temporaryFolder } from '../../helpers/temporary.js'

async function opened(t: Test, variables: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder(t)
  const own = { GATEHOUSE_CONFIG: '/dev/null', GATEHOUSE_DATA_DIR: folder }
  return { folder, storage: await openStorage(loadSettings({ ...own, ...variables })) }
}

t.test('without configuration blobs are in the data folder', async (t) => {
  const { folder, storage } = await opened(t, {})
  t.equal(storage.incomingFolder, join(folder, 'blobs', 'incoming'))
  await access(storage.incomingFolder)
  const request = { method: 'GET', contentType: 'text/plain', contentDisposition: 'a' } as const
  t.equal(await storage.directUrl('a', request), undefined)
})

t.test('with a bucket uploads are still received in the data folder', async (t) => {
  const GATEHOUSE_BLOBS_URL = 's3://key:secret@127.0.0.1:9/bucket'
  const { folder, storage } = await opened(t, { GATEHOUSE_BLOBS_URL })
  t.equal(storage.incomingFolder, join(folder, 'uploads'))
  await access(storage.incomingFolder)
})

t.test('clients are redirected to the bucket only if that is enabled', async (t) => {
  const key = `${'a'.repeat(64)}-${'0'.repeat(16)}`
  const request = { method: 'GET', contentType: 'text/plain', contentDisposition: 'a' } as const
  const GATEHOUSE_BLOBS_URL = 's3://key:secret@s3.example.org/bucket/code'
  const kept = await opened(t, { GATEHOUSE_BLOBS_URL })
  t.equal(await kept.storage.directUrl(key, request), undefined)
  const sent = await opened(t, { GATEHOUSE_BLOBS_URL, GATEHOUSE_BLOBS_REDIRECT: 'true' })
  const url = String(await sent.storage.directUrl(key, request))
  t.ok(url.startsWith(`https://s3.example.org/bucket/code/aa/aa/${key}?`))
})
