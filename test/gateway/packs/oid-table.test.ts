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

t.test('an entry is added once, and a full table says so', async (t) => {
  const table = new OidTable(10)
  for (let round = 0; round < 100; round += 1) table.add(1, 7)
  t.notOk(table.isFull)
  for (let entry = 0; entry < 20; entry += 1) table.add(entry, entry)
  t.ok(table.isFull)
  t.ok(table.bytes <= 256)
})
