/** Check of `gatehouse doctor` on the storage of blobs. */

import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf } from '../../conf/lib/reason-of.js'
import type { Settings } from '../../conf/settings.js'
import { openStorage } from '../../registry/storage/open.js'

/** Writes a small blob, reads it and removes it. */
export async function checkBlobs(settings: Settings): Promise<string> {
  const { location } = settings.blobs
  const isFolder = location.kind === 'files'
  const place = isFolder ? location.folder : `bucket ${location.bucket} at ${location.origin}`
  try {
    const storage = await openStorage(settings)
    const content = randomBytes(64)
    const digest = createHash('sha256').update(content).digest('hex')
    const key = `${digest}-${randomBytes(8).toString('hex')}`
    const path = join(storage.incomingFolder, key)
    await writeFile(path, content, { mode: 0o600 })
    await storage.put(key, { path, bytes: content.length })
    const chunks: Buffer[] = []
    for await (const chunk of await storage.open(key, { start: 0, end: content.length })) {
      chunks.push(Buffer.from(chunk))
    }
    await storage.remove(key)
    if (!Buffer.concat(chunks).equals(content))
      throw new Error('the content read differs from the content written')
  } catch (error) {
    throw new Error(`${place} cannot be used: ${reasonOf(error)}`)
  }
  return `${place} is writable`
}
