/** A table shows the product beside each of its peers, in columns that line up. */

import t from 'tap'
import { formatTable } from '../../../scripts/benchmarks/table.js'

t.test('each peer has its figure and its ratio, for speed and for CPU', async (t) => {
  const text = formatTable({
    title: 'Clones',
    peers: ['git', 'file'],
    unit: 'clones',
    rows: [
      [
        'depth 1',
        {
          product: { perSecond: 1_234.5, cpuMsPerOperation: 0.5 },
          against: [
            { peer: { perSecond: 10, cpuMsPerOperation: 40 }, speedRatio: 123.4, cpuRatio: 0.0125 },
            {
              peer: { perSecond: 2_000, cpuMsPerOperation: undefined },
              speedRatio: 0.617,
              cpuRatio: undefined,
            },
          ],
        },
      ],
    ],
  })
  const lines = text.split('\n')
  t.equal(new Set(lines.slice(1).map((line) => line.length)).size, 1, 'all are of one width')
  t.strictSame(
    lines.map((line) => line.trim().split(/\s+/)),
    [
      ['Clones'],
      ['gatehouse', 'git', 'ratio', 'file', 'ratio', 'gatehouse', 'git', 'ratio', 'file', 'ratio'],
      ['clones/s', 'clones/s', 'clones/s', 'CPU', 'ms', 'CPU', 'ms', 'CPU', 'ms'],
      ['depth', '1', '1235', '10.0', '123', '2000', '0.617', '0.500', '40.0', '0.0125', '-', '-'],
    ],
  )
})
