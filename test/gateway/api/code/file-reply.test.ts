/** File names in the header Content-Disposition. */

import t from 'tap'
import { disposition, SAFE_HEADERS } from '../../../../gateway/api/code/file-reply.js'

t.test('a file name cannot break out of its header', async (t) => {
  t.equal(disposition('inline', 'a b.txt'), 'inline; filename="a b.txt"')
  t.equal(
    disposition('attachment', 'a"\r\nX: y\\\u00e9\'(%'),
    'attachment; filename="a___X: y__\'(_"; ' +
      "filename*=UTF-8''a%22%0D%0AX%3A%20y%5C%C3%A9%27%28%25",
  )
  t.match(Object.fromEntries(SAFE_HEADERS), { 'X-Content-Type-Options': 'nosniff' })
})
