/** Parsers of settings accept and refuse the documented values, from file and environment. */

import t, { type Test } from 'tap'
import {
  asBoolean,
  asBytes,
  asCount,
  asDurationMs,
  asHostPort,
  asList,
  asOneOf,
  asPort,
  asText,
  asTimeOfDayMs,
  asUrl,
} from '../../conf/field.js'

type Parse = (value: unknown) => unknown

function takes(t: Test, parse: Parse, values: ReadonlyArray<readonly [unknown, unknown]>) {
  for (const [value, parsed] of values) t.strictSame(parse(value), parsed, JSON.stringify(value))
}

const SECRET = 'hunter2'

/** Checks that each wrong value is refused with a message that does not repeat it. */
function refuses(t: Test, parse: Parse, values: readonly unknown[]) {
  for (const value of [...values, SECRET, null, undefined, {}, { toString: () => '1' }]) {
    t.throws(() => parse(value), { message: /^must be (?!.*hunter2)/ }, JSON.stringify(value))
  }
}

t.test('an empty text and other types are refused', async (t) => {
  takes(t, asText, [['a', 'a']])
  for (const value of ['', 1, true, ['a'], null, undefined]) {
    t.throws(() => asText(value), { message: 'must be a text' })
  }
})

t.test('only true and false are booleans', async (t) => {
  takes(t, asBoolean, [
    [true, true],
    ['true', true],
    [false, false],
    ['false', false],
  ])
  refuses(t, asBoolean, ['', 'yes', '1', 0, ['true']])
})

t.test('a count is a whole number in range, as a number or digits', async (t) => {
  takes(t, asCount(1), [
    [1, 1],
    ['12', 12],
  ])
  takes(t, asCount(0), [['0', 0]])
  refuses(t, asCount(1), [0, '0', -1, 1.5, '1.5', '1e3', '0x10', '', ' 1', [1], 2 ** 53])
})

t.test('a port is between 1 and 65535', async (t) => {
  takes(t, asPort, [
    [22, 22],
    ['65535', 65_535],
  ])
  refuses(t, asPort, [0, 65_536, '-1'])
})

t.test('a duration has a unit', async (t) => {
  takes(t, asDurationMs, [
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
  ])
  refuses(t, asDurationMs, ['30', 30, '', 's', '1.5s', '-1s', '1d', '1s ', ['30s']])
})

t.test('a duration longer than a timer can wait is refused', async (t) => {
  t.equal(asDurationMs('596h'), 596 * 3_600_000)
  refuses(t, asDurationMs, ['597h', '999999999h'])
})

t.test('a time of day has two digits for hours and minutes', async (t) => {
  takes(t, asTimeOfDayMs, [
    ['00:00', 0],
    ['23:59', 86_340_000],
  ])
  refuses(t, asTimeOfDayMs, ['3:00', '24:00', '03:60', '03:00:00', 3, ''])
})

t.test('a size is a number of bytes or has a binary unit', async (t) => {
  takes(t, asBytes, [
    [1024, 1024],
    ['1024', 1024],
    ['64KiB', 65_536],
    ['10MiB', 10_485_760],
    ['4GiB', 4_294_967_296],
  ])
  refuses(t, asBytes, ['', '1KB', '1 KiB', '-1', '1.5GiB', 1.5, 'KiB', ['1KiB'], [1024]])
})

t.test('a size that is not a safe integer is refused', async (t) => {
  refuses(t, asBytes, ['999999999999GiB', 2 ** 53, Number.POSITIVE_INFINITY])
})

t.test('an enumerated value is matched exactly', async (t) => {
  takes(t, asOneOf(['debug', 'info']), [['info', 'info']])
  refuses(t, asOneOf(['debug', 'info']), ['', 'INFO', 'information', ['info']])
})

t.test('a list is an array in the file and comma-separated in the environment', async (t) => {
  takes(t, asList(asCount(1)), [
    [
      [1, 2],
      [1, 2],
    ],
    ['1, 2', [1, 2]],
    ['1,', [1]],
    ['', []],
    [[], []],
  ])
  refuses(t, asList(asCount(1)), [1, ['x'], [''], '1, ,2'])
})

t.test('a listen address has a host and a port', async (t) => {
  takes(t, asHostPort, [
    ['127.0.0.1:3000', { host: '127.0.0.1', port: 3000 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
  ])
  refuses(t, asHostPort, ['', ':3000', '3000', 3000, 'a:b', 'a:65536', '::1:80', 'a:1/x', ['a:1']])
})

t.test('a URL has one of the schemes and no query', async (t) => {
  const parse = asUrl('http:', 'https:')
  t.equal(String(parse('https://code.example/sub')), 'https://code.example/sub')
  refuses(t, parse, ['', 'code.example', 'ftp://a/', 'javascript:alert(1)', 'http://a/?b'])
  refuses(t, parse, ['http://a/#b', ['http://a/']])
})
