/** A table shows the product beside each of its peers, in aligned columns. */

import t from 'tap'
import { formatTable } from '../../../scripts/benchmarks/table.js'

t.test('each peer has its figure and its ratio, for speed and for CPU time', async (t) => {
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
  t.equal(
    new Set(lines.slice(1).map((line) => line.length)).size,
    1,
    'all lines have the same width',
  )
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

t.test('a table of times shows figures and ratios as times, with notes below', async (t) => {
  const text = formatTable({
    title: 'Indexes',
    peers: ['aptly'],
    unit: 'indexes',
    shows: 'time',
    rows: [
      [
        '100',
        {
          product: { perSecond: 8, cpuMsPerOperation: 30 },
          against: [
            { peer: { perSecond: 2, cpuMsPerOperation: 60 }, speedRatio: 4, cpuRatio: 0.5 },
          ],
        },
      ],
    ],
    notes: ['filled in 3 s'],
  })
  t.strictSame(
    text.split('\n').map((line) => line.trim().split(/\s+/)),
    [
      ['Indexes'],
      ['gatehouse', 'aptly', 'ratio', 'gatehouse', 'aptly', 'ratio'],
      ['ms', 'ms', 'CPU', 'ms', 'CPU', 'ms'],
      ['100', '125', '500', '0.250', '30.0', '60.0', '0.500'],
      ['filled', 'in', '3', 's'],
    ],
  )
})

t.test('a table with columns of its own shows unknown figures as a dash', async (t) => {
  const text = formatTable({
    title: 'Day',
    head: [['', 'median ms', 'cached']],
    cells: [
      ['push', 1_234.5, '0.0 %'],
      ['clone', undefined],
    ],
    notes: ['a note'],
  })
  t.strictSame(text.split('\n'), [
    'Day',
    '       median ms  cached',
    'push        1235   0.0 %',
    'clone          -        ',
    'a note',
  ])
})
