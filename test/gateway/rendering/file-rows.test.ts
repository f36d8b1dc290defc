/** Rows of files as HTML. */

import t from 'tap'
import { linesOf, plainRows } from '../../../gateway/rendering/file-rows.js'

t.test('the text of a file without highlighting is escaped', async (t) => {
  const row = (number: number, html: string) =>
    `<tr id="L${number}"><td class="number"><a href="#L${number}">${number}</a></td>` +
    `<td><code>${html}</code></td></tr>`
  t.equal(plainRows(`<b>\n"&'\n`), row(1, '&#60;b&#62;') + row(2, '&#34;&#38;&#39;'))
  t.equal(plainRows('a\u202eb'), row(1, 'a<mark class="hidden-character">U+202E</mark>b'))
})

t.test('a final line feed starts no further line', async (t) => {
  t.strictSame(linesOf('a\n\nb\n'), ['a', '', 'b'])
  t.strictSame(linesOf('a'), ['a'])
})
