/** Rows of logs as HTML. */

import t from 'tap'
import { drawLogRow, drawLogRows } from '../../../gateway/rendering/log-rows.js'

const ESC = '\u001b'

/** Returns the HTML of a row. */
function htmlOf(text: string): string {
  return drawLogRow(text).html
}

t.test('text is escaped, and hidden characters have marks', async (t) => {
  t.equal(htmlOf(`<b> & "'`), '&#60;b&#62; &#38; &#34;&#39;')
  t.equal(htmlOf('a\u202eb'), 'a<mark class="hidden-character">U+202E</mark>b')
})

t.test('colours and bold text become classes until they end', async (t) => {
  for (const [text, html] of [
    [`a${ESC}[31mb${ESC}[0mc`, 'a<span class="ansi-31">b</span>c'],
    [`${ESC}[1;97mb<${ESC}[mc`, '<span class="ansi-97 strong">b&#60;</span>c'],
    [
      `${ESC}[1mb${ESC}[22m${ESC}[32mc${ESC}[39md`,
      '<span class="strong">b</span><span class="ansi-32">c</span>d',
    ],
    [`${ESC}[31m${ESC}[38;5;34mb`, '<span class="ansi-31">b</span>'],
    [`${ESC}[48;2;31;32;33;94mb`, '<span class="ansi-94">b</span>'],
    [`${ESC}[29m${ESC}[38m${ESC}[41m${ESC}[98m${ESC}[?31m${ESC}[3:1mb`, 'b'],
  ] as const) {
    t.equal(htmlOf(text), html, JSON.stringify(text))
  }
})

t.test('other control sequences are removed', async (t) => {
  const link = `${ESC}]8;;https://evil.example${ESC}\\text${ESC}]8;;\u0007`
  t.equal(htmlOf(`a${ESC}[2K${ESC}[1A${ESC}c${ESC}(B${link}b`), 'atextb')
  t.equal(htmlOf(`a${ESC}`), 'a<mark class="hidden-character">U+001B</mark>', 'an incomplete one')
})

t.test('messages have a label and a class', async (t) => {
  for (const [text, html] of [
    ['::error::no <x>', '<span class="log-error">Error: no &#60;x&#62;</span>'],
    ['::warning file=a.ts,line=1::w', '<span class="log-warning">Warning: w</span>'],
    ['::notice::n', '<span class="log-notice">Notice: n</span>'],
    ['::debug::d', '<span class="log-debug">Debug: d</span>'],
    ['##[error]e', '<span class="log-error">Error: e</span>'],
    ['a ::error::b', 'a ::error::b'],
    ['::errors::b', '::errors::b'],
    ['::set-output name=x::b', '::set-output name=x::b'],
  ] as const) {
    t.equal(htmlOf(text), html)
  }
})

t.test('at most 2000 characters of a row are shown', async (t) => {
  t.equal(htmlOf('x'.repeat(2_000)).length, 2_000)
  t.match(
    htmlOf('x'.repeat(2_003)),
    /^x{2000} <mark>3 more characters are in the whole log<\/mark>$/,
  )
})

t.test('groups are elements that a user opens, and are not nested', async (t) => {
  const texts = ['::endgroup::', '::group::A <b>', 'in', '##[group]', 'two', '::endgroup::', 'out']
  const rows = texts.map((text, at) => ({ ...drawLogRow(text), number: at + 1, time: 'T' }))
  const row = (number: number, text: string) =>
    `<div id="3:${number}"><a class="number" href="#3:${number}" title="T">${number}</a><code>${text}</code></div>`
  const html =
    `<details id="3:2"><summary>A &#60;b&#62;</summary>${row(3, 'in')}</details>` +
    `<details id="3:4"><summary>Group</summary>${row(5, 'two')}</details>${row(7, 'out')}`
  t.equal(drawLogRows(3, rows), html)
  t.equal(drawLogRows(3, rows.slice(0, 3)), html.slice(0, html.indexOf('<details id="3:4"')))
})

t.test('a row of control sequences or of commands is cut as well', async (t) => {
  for (const text of [`${ESC}[`, `${ESC}]`, `${ESC}[1m`, '::error ', '::']) {
    const drawn = htmlOf(text.repeat(30_000))
    t.ok(drawn.length < 40_000, JSON.stringify(text))
  }
})
