/** Rendered records are concatenated and counted. */

import t from 'tap'
import { rendered } from '../../../registry/indexing/rendered.js'

t.test('the bytes are those of the encoding', async (t) => {
  t.strictSame(rendered(['ä', 'b']), { content: Buffer.from([0xc3, 0xa4, 98]), count: 2 })
  t.strictSame(rendered(['ä', 'b'], 'latin1'), { content: Buffer.from([0xe4, 98]), count: 2 })
  t.strictSame(rendered([]), { content: Buffer.alloc(0), count: 0 })
})
