/** A written layout is read back, with the current position of each piece. */

import t from 'tap'
import { readLayout, writeLayout } from '../../../registry/indexing/layout.js'
import type { Runs } from '../../../registry/indexing/texts.js'

const fresh = (start: number, bytes: number) => ({
  id: `at ${start}`,
  blobKey: undefined,
  start,
  bytes,
})
const sums = { bytes: 10, crc32: 7, count: 1 }

const RUNS: Runs = {
  parts: ['main'],
  runs: [
    { from: '', parts: [], pieces: new Map() },
    {
      from: 'b',
      parts: ['main'],
      pieces: new Map([
        ['list', { ...sums, spans: { plain: fresh(90, 10), deflated: fresh(0, 5) } }],
      ]),
    },
    {
      from: 'k',
      parts: ['main'],
      pieces: new Map([
        ['list', { ...sums, spans: { plain: fresh(50, 20), deflated: fresh(5, 6) } }],
        ['rare', { ...sums, spans: { plain: fresh(0, 1) } }],
      ]),
    },
  ],
}

const WRITTEN = writeLayout(
  RUNS,
  new Map([
    ['list', { plain: { path: 'list', start: 0 }, deflated: { path: 'list.gz', start: 10 } }],
    ['rare', { plain: { path: 'rare', start: 3 } }],
  ]),
  1,
)

const USUAL = {
  revision: 1,
  formsOf: (name: string) =>
    name === 'list' ? (['plain', 'deflated'] as const) : ['plain' as const],
  blobKeyOf: (path: string) => `key of ${path}`,
}

t.test('pieces follow each other in the files', async (t) => {
  const { parts, runs } = readLayout(WRITTEN, USUAL) ?? { parts: [], runs: [] }
  t.strictSame(parts, ['main'])
  t.strictSame(
    runs.map(({ from, parts }) => ({ from, parts })),
    RUNS.runs.map(({ from, parts }) => ({ from, parts })),
  )
  const inList = (id: string, start: number, bytes: number) => ({
    id,
    blobKey: 'key of list',
    start,
    bytes,
  })
  const packed = (id: string, start: number, bytes: number) => ({
    id,
    blobKey: 'key of list.gz',
    start,
    bytes,
  })
  t.strictSame(
    runs.map(({ pieces }) => [...pieces]),
    [
      [],
      [
        [
          'list',
          { ...sums, spans: { plain: inList('at 90', 0, 10), deflated: packed('at 0', 10, 5) } },
        ],
      ],
      [
        [
          'list',
          { ...sums, spans: { plain: inList('at 50', 10, 20), deflated: packed('at 5', 15, 6) } },
        ],
        [
          'rare',
          { ...sums, spans: { plain: { id: 'at 0', blobKey: 'key of rare', start: 3, bytes: 1 } } },
        ],
      ],
    ],
  )
})

t.test('a layout that does not fit the maker is ignored', async (t) => {
  t.equal(
    readLayout(WRITTEN, { ...USUAL, revision: 2 }),
    undefined,
    'another revision of the texts',
  )
  const formsOf = () => ['plain', 'xz'] as const
  t.equal(readLayout(WRITTEN, { ...USUAL, formsOf }), undefined, 'one form is missing')
  const blobKeyOf = (path: string) => (path === 'rare' ? undefined : 'key')
  t.equal(readLayout(WRITTEN, { ...USUAL, blobKeyOf }), undefined, 'one file is missing')
  const other = JSON.stringify({ ...JSON.parse(WRITTEN), version: 99 })
  t.equal(readLayout(other, USUAL), undefined, 'written by another release')
  const fewer = readLayout(WRITTEN, { ...USUAL, formsOf: () => ['plain'] })
  const [, run] = fewer?.runs ?? []
  t.strictSame(
    Object.keys(run?.pieces.get('list')?.spans ?? {}),
    ['plain'],
    'a superfluous form is left out',
  )
})
