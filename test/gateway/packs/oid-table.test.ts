/** A hash table of object ids that are stored elsewhere. */

import t from 'tap'
import { OidTable } from '../../../gateway/packs/oid-table.js'

t.test('entries are found by their hash, also if hashes are equal', async (t) => {
  const table = new OidTable(100)
  for (let entry = 0; entry < 50; entry += 1) table.add(entry % 5, entry)
  for (let entry = 0; entry < 50; entry += 1) {
    t.equal(
      table.find(entry % 5, (found) => found === entry),
      entry,
    )
  }
  t.equal(
    table.find(3, (found) => found === 50),
    undefined,
  )
  t.equal(
    table.find(77, () => true),
    undefined,
  )
})

t.test('an entry is added once', async (t) => {
  const table = new OidTable(10)
  for (let round = 0; round < 100; round += 1) table.add(1, 7)
  const found: number[] = []
  table.find(1, (entry) => found.push(entry) === 0)
  t.strictSame(found, [7])
  t.ok(table.bytes <= 256)
})
