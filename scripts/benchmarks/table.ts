/** Tables of comparisons and of other figures, formatted for a terminal. */

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

/** Table whose columns are not those of a comparison. */
export interface Grid {
  readonly title: string
  /** Lines above the rows, with a name for each column. */
  readonly head: ReadonlyArray<readonly string[]>
  /** Cells of each row, the first of which is its label; undefined is an unknown figure. */
  readonly cells: ReadonlyArray<ReadonlyArray<string | number | undefined>>
  /** Further lines below the table. */
  readonly notes?: readonly string[]
}

/** Formats a table as text, without a final line break. */
export function formatTable(table: Table | Grid): string {
  const { title, head, cells, notes = [] } = 'cells' in table ? table : gridOf(table)
  const lines = cells.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? cell : formatNumber(cell))),
  )
  const grid = [...head, ...lines]
  const columns = Array.from({ length: Math.max(...grid.map((row) => row.length)) }, (_, at) => at)
  const widths = columns.map((column) => Math.max(...grid.map((row) => cellOf(row, column).length)))
  const text = grid.map((row) =>
    widths.map((width, column) => pad(cellOf(row, column), { width, column })).join('  '),
  )
  return [title, ...text, ...notes].join('\n')
}

function gridOf(table: Table): Grid {
  const { title, peers, rows, notes = [] } = table
  const { heading, speedOf, ratioOf } = wordingOf(table)
  const names = ['gatehouse', ...peers.flatMap((peer) => [peer, 'ratio'])]
  const units = (text: string) => [text, ...peers.flatMap(() => [text, ''])]
  const head = ['', ...names, ...names]
  const cells = rows.map(([label, { product, against }]) => [
    label,
    speedOf(product.perSecond),
    ...against.flatMap(({ peer, speedRatio }) => [speedOf(peer.perSecond), ratioOf(speedRatio)]),
    product.cpuMsPerOperation,
    ...against.flatMap(({ peer, cpuRatio }) => [peer.cpuMsPerOperation, cpuRatio]),
  ])
  return { title, head: [head, ['', ...units(heading), ...units('CPU ms')]], cells, notes }
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
