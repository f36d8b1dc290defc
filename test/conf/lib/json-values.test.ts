/** Values of a JSON text are counted without parsing it. */

import t from 'tap'
import { hasManyValues } from '../../../conf/lib/json-values.js'

/** Returns the smallest limit that the text does not exceed. */
function countOf(text: string): number {
  let max = 0
  while (hasManyValues(text, max)) max += 1
  return max
}

t.test('arrays, objects and commas count, and the contents of strings do not', async (t) => {
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

t.test('many quotes and backslashes are read in linear time', async (t) => {
  const startedMs = process.cpuUsage().user
  for (const piece of ['"', '\\"', '"\\', '"\\\\"', '\\\\\\\\\\\\\\\\"']) {
    t.equal(hasManyValues(piece.repeat(1_000_000), 10), false)
  }
  t.ok(process.cpuUsage().user - startedMs < 5_000_000)
})
