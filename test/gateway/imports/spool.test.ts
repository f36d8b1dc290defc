/** Spooled objects are read back unchanged in both orders and leave no file. */

import { readdir } from 'node:fs/promises'
import t from 'tap'
import { openSpool } from '../../../gateway/imports/spool.js'
import type { ImportedBatch } from '../../../sql/repositories/imported-contents.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const release = (tagName: string) => ({
  tagName,
  target: '',
  title: '',
  body: 'a\u2028b\nc',
  isDraft: false,
  isPrerelease: false,
  createdAtMs: 1,
  publishedAtMs: 1,
  attachments: [],
})
const milestone = (id: number) => ({
  id,
  title: 'm',
  description: '',
  state: 'open' as const,
  createdAtMs: 1,
  updatedAtMs: 1,
})

t.test('spooled objects are read in order of arrival or oldest first', async (t) => {
  const folder = await temporaryFolder(t)
  const spool = await openSpool(folder)
  t.strictSame(await readdir(folder), [], 'a crash leaves no file')
  const came: readonly ImportedBatch[] = [
    { kind: 'releases', entries: [release('v4'), release('v3')] },
    { kind: 'milestones', entries: [milestone(1), milestone(2)] },
    { kind: 'releases', entries: [release('v2')] },
  ]
  for (const batch of came) await spool.append(batch)
  await spool.append({ kind: 'comments', entries: [] })
  const all = async (batches: AsyncIterable<ImportedBatch>) => {
    const list: ImportedBatch[] = []
    for await (const batch of batches) list.push(batch)
    return list
  }
  t.strictSame(await all(spool.batches()), came)
  t.strictSame(await all(spool.batches()), came, 'repeatedly')
  t.strictSame(await all(spool.oldestFirst()), [
    came[1],
    came[2],
    { kind: 'releases', entries: [release('v3'), release('v4')] },
  ])
  await spool.close()
})
