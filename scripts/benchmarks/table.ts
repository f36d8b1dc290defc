/** Tables of comparisons, formatted for a terminal. */

import type { Comparison } from './compare.js'

export interface Table {
  /** Title: the compared operation and its conditions. */
  readonly title: string
  /** Names of the peers. */
  readonly peers: readonly string[]
  /** Plural of the counted operation, such as `requests`. */
  readonly unit: string
  /** Absent: operations per second. `time`: ms per operation; a ratio below 1 is faster. */
  readonly shows?: 'time'
  readonly rows: ReadonlyArray<readonly [label: string, comparison: Comparison]>
  /** Further lines below the table. */
  readonly notes?: readonly string[]
}

/** Formats a table as text, without a final line break. */
export function formatTable(table: Table): string {
  const { title, peers, rows, notes = [] } = table
  const { heading, speedOf, ratioOf } = wordingOf(table)
  const names = ['gatehouse', ...peers.flatMap((peer) => [peer, 'ratio'])]
  const units = (text: string) => [text, ...peers.flatMap(() => [text, ''])]
  const head = ['', ...names, ...names]
  const lines = rows.map(([label, { product, against }]) => [
    label,
    formatNumber(speedOf(product.perSecond)),
    ...against.flatMap(({ peer, speedRatio }) =>
      [speedOf(peer.perSecond), ratioOf(speedRatio)].map(formatNumber),
    ),
    formatNumber(product.cpuMsPerOperation),
    ...against.flatMap(({ peer, cpuRatio }) =>
      [peer.cpuMsPerOperation, cpuRatio].map(formatNumber),
    ),
  ])
  const grid = [head, ['', ...units(heading), ...units('CPU ms')], ...lines]
  const widths = head.map((_, column) =>
    Math.max(...grid.map((cells) => cellOf(cells, column).length)),
  )
  const text = grid.map((cells) =>
    widths.map((width, column) => pad(cellOf(cells, column), { width, column })).join('  '),
  )
  return [title, ...text, ...notes].join('\n')
}

function wordingOf({ unit, shows }: Table) {
  const same = (value: number) => value
  if (shows === undefined) return { heading: `${unit}/s`, speedOf: same, ratioOf: same }
  const timeOf = (perSecond: number) => 1_000 / perSecond
  return { heading: 'ms', speedOf: timeOf, ratioOf: (ratio: number) => 1 / ratio }
}

function cellOf(cells: readonly string[], column: number): string {
  return cells[column] ?? ''
}

function pad(text: string, { width, column }: { width: number; column: number }): string {
  return column === 0 ? text.padEnd(width) : text.padStart(width)
}

function formatNumber(value: number | undefined): string {
  if (value === undefined) return '-'
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
