/** Log lines as text: readable, and unable to control the terminal. */

import t from 'tap'
import { formatLogLine } from '../../conf/log-text.js'

/** Time without a time zone, so that it is local time wherever the tests run. */
const TIME = '2026-03-04T12:34:56.789'

function lineOf(fields: Readonly<Record<string, unknown>>, level = 'info'): string {
  return `${JSON.stringify({ level, time: TIME, ...fields, msg: 'serving' })}\n`
}

/** Returns the part of the line that shows the fields. */
function shown(fields: Readonly<Record<string, unknown>>): string {
  const start = '12:34:56 info  serving  '
  const text = formatLogLine(lineOf(fields))
  if (!text.startsWith(start) || !text.endsWith('\n')) throw new Error(JSON.stringify(text))
  return text.slice(start.length, -1)
}

t.test('a line shows local time, level, message and fields', async (t) => {
  t.equal(
    formatLogLine(lineOf({ url: 'http://127.0.0.1:3000', workers: 2 })),
    '12:34:56 info  serving  url=http://127.0.0.1:3000 workers=2\n',
  )
  t.equal(formatLogLine(lineOf({}, 'error')), '12:34:56 error serving\n')
})

const FIELDS: ReadonlyArray<readonly [Readonly<Record<string, unknown>>, string]> = [
  [{ a: 1, b: true, c: null }, 'a=1 b=true c=null'],
  [{ path: '/ada/r.git?x=1' }, 'path=/ada/r.git?x=1'],
  [{ name: 'Grüße' }, 'name=Grüße'],
  [{ name: '' }, 'name=""'],
  [{ name: 'ada status=200' }, 'name="ada status=200"'],
  [{ name: '"ada' }, 'name="\\"ada"'],
  [{ name: 'C:\\x' }, 'name=C:\\x'],
  [{ name: 'a\u00a0b' }, 'name="a\u00a0b"'],
  [{ swept: { unused: 1, left: ['x'] } }, 'swept={"unused":1,"left":["x"]}'],
  [{ path: '/\u001b[31mx\n' }, 'path="/\\u001b[31mx\\n"'],
  [{ path: '\u007f\u009b31m' }, 'path="\\u007f\\u009b31m"'],
  [{ path: 'a\u2028b\u202ec\u200bd' }, 'path="a\\u2028b\\u202ec\\u200bd"'],
  [{ path: '\ud800' }, 'path="\\ud800"'],
  [{ path: '\u{e0041}' }, 'path="\\udb40\\udc41"'],
  [{ list: ['\u009b31m'] }, 'list=["\\u009b31m"]'],
  [{ '\u001bc': 1 }, '\\u001bc=1'],
  [{ pid: 7 }, 'pid=7'],
  [{ error: { message: 'no such file', code: 'ENOENT' } }, 'error="ENOENT: no such file"'],
  [{ error: { message: 'ENOENT: x', code: 'ENOENT', stack: 'S' } }, 'error="ENOENT: x"'],
  [{ error: { message: 'outer', cause: { message: 'inner' } } }, 'error="outer (cause: inner)"'],
  [{ error: 'plain' }, 'error=plain'],
]

t.test('fields are key=value, quoted and escaped if necessary', async (t) => {
  for (const [fields, text] of FIELDS) t.equal(shown(fields), text)
})

t.test('a message or field of more than 500 characters is cut', async (t) => {
  t.equal(shown({ path: 'x'.repeat(500) }), `path=${'x'.repeat(500)}`)
  t.equal(shown({ path: 'x'.repeat(501) }), `path=${'x'.repeat(500)}…`)
  t.equal(shown({ list: ['x'.repeat(600)] }), `list=["${'x'.repeat(498)}…`)
  t.equal(shown({ path: `${'x'.repeat(499)}😀` }), `path="${'x'.repeat(499)}\\ud83d…"`)
  const text = formatLogLine(JSON.stringify({ level: 'info', time: TIME, msg: 'x'.repeat(9_000) }))
  t.equal(text, `12:34:56 info  ${'x'.repeat(500)}…\n`)
})

t.test('no character in any part of a line can control the terminal', async (t) => {
  const every = Array.from({ length: 0x3000 }, (_, unit) => String.fromCharCode(unit))
  for (const text of every) {
    const error = { message: text, code: text, stack: `${text}\n${text}`, cause: { message: text } }
    const fields = { [`x${text}`]: text, list: [text], error, msg: text }
    const line = formatLogLine(JSON.stringify({ level: 'error', time: TIME, ...fields }))
    const other = formatLogLine(JSON.stringify({ level: text, time: text, msg: text }))
    const found = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(line + other + formatLogLine(text))
    if (found !== null) t.fail(`U+${text.charCodeAt(0).toString(16)} reaches the terminal`)
  }
  const forged = formatLogLine(lineOf({ name: 'x\n12:34:57 info  forged' }))
  t.equal(forged.split('\n').length, 2, 'a field adds no line')
})

t.test('the stack of an error is shown for level error only', async (t) => {
  const error = {
    type: 'TypeError',
    message: 'outer',
    stack: 'TypeError: outer\n    at f (x.js:1:2)',
    cause: { message: 'inner', stack: 'Error: inner\n    at g (\u001b[2Jy.js:3:4)' },
  }
  t.equal(
    formatLogLine(lineOf({ error }, 'error')),
    [
      '12:34:56 error serving  error="outer (cause: inner)"',
      '    TypeError: outer',
      '        at f (x.js:1:2)',
      '    cause: Error: inner',
      '        at g (\\u001b[2Jy.js:3:4)',
      '',
    ].join('\n'),
  )
  t.equal(formatLogLine(lineOf({ error }, 'warn')).split('\n').length, 2)
  const deep = { message: 'x', stack: 'x\n'.repeat(1_000) }
  t.equal(formatLogLine(lineOf({ error: deep }, 'error')).split('\n').length, 42)
})

t.test('warnings and errors are coloured if colour is enabled', async (t) => {
  const levelOf = (level: string) =>
    formatLogLine(lineOf({}, level), { isColoured: true }).split(' ')[1]
  t.equal(levelOf('warn'), '\u001b[33mwarn')
  t.equal(levelOf('error'), '\u001b[31merror\u001b[39m')
  t.equal(levelOf('info'), 'info')
  t.equal(levelOf('debug'), 'debug')
})

t.test("a line that is not the logger's is shown escaped", async (t) => {
  t.equal(formatLogLine('{"level":\u001b\n'), '{"level":\\u001b\n')
  t.equal(formatLogLine('[1]\n'), '[1]\n')
  t.equal(formatLogLine('{"level":"info"}\n'), '{"level":"info"}\n')
})
