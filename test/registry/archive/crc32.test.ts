/** Checksums of two parts are combined into that of the whole. */

import { randomBytes, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { appendCrc32 } from '../../../registry/archive/crc32.js'

t.test("the combined checksum equals zlib's checksum of the whole", async (t) => {
  for (let round = 0; round < 300; round += 1) {
    const [first, second] = [randomBytes(randomInt(2_000)), randomBytes(randomInt(70_000))]
    const joined = appendCrc32(crc32(first), crc32(second), second.length)
    t.equal(joined, crc32(Buffer.concat([first, second])), `${first.length} + ${second.length}`)
  }
  t.equal(appendCrc32(123, 0, 0), 123, 'nothing is appended')
})
