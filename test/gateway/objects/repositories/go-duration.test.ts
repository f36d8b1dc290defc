/** Durations in the format of Go. */

import t from 'tap'
import {
  goDuration,
  parseGoDuration,
} from '../../../../gateway/objects/repositories/go-duration.js'

t.test('a duration is written with every unit below its largest one', async (t) => {
  const texts: Readonly<Record<number, string>> = {
    0: '0s',
    500: '500ms',
    1000: '1s',
    1500: '1.5s',
    90000: '1m30s',
    600000: '10m0s',
    28800000: '8h0m0s',
    90061001: '25h1m1.001s',
  }
  for (const [ms, text] of Object.entries(texts)) {
    t.equal(goDuration(Number(ms)), text)
    t.equal(parseGoDuration(text), Number(ms), `${text} is parsed back`)
  }
})

t.test('every form that Go accepts is parsed, and others are refused', async (t) => {
  t.equal(parseGoDuration('0'), 0)
  t.equal(parseGoDuration('1h30m'), 5_400_000)
  t.equal(parseGoDuration('1.5h.5m'), 5_430_000)
  t.equal(parseGoDuration('30m1h'), 5_400_000, 'in any order')
  t.equal(parseGoDuration('1000000ns1000us1000\u00b5s'), 3)
  for (const text of [
    '',
    '8',
    '8H',
    'h',
    '-8h',
    '8h ',
    '8 h',
    '1d',
    '1e3s',
    `${'9'.repeat(30)}h`,
  ]) {
    t.throws(
      () => parseGoDuration(text),
      { failure: 'invalid', message: /^time: invalid duration/ },
      text,
    )
  }
})
