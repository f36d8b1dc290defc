/** Values of JSON are counted without parsing it. */

import t from 'tap'
import { hasManyValues } from '../../conf/json-values.js'

/** The least bound within which the text is. */
function countOf(text: string): number {
  let max = 0
  while (hasManyValues(text, max)) max += 1
  return max
}

t.test('arrays, objects and commas count, and what strings hold does not', async (t) => {
  for (const [text, count] of [
    ['', 0],
    ['1', 0],
    ['[1, 2, 3]', 3],
    ['{"a": [], "b": {}}', 4],
    ['[[[[', 4],
    ['"[,{"', 0],
    ['["[,{\\"[,{", 1]', 2],
    ['["\\\\", ",,"]', 2],
    ['"\\\\\\",,,,', 0],
    ['"a,b', 0],
  ] as const) {
    t.equal(countOf(text), count, text)
  }
})

t.test('quotes and backslashes of any number are read once', async (t) => {
  const startedMs = process.cpuUsage().user
  for (const piece of ['"', '\\"', '"\\', '"\\\\"', '\\\\\\\\\\\\\\\\"']) {
    t.equal(hasManyValues(piece.repeat(1_000_000), 10), false)
  }
  t.ok(process.cpuUsage().user - startedMs < 5_000_000)
})
