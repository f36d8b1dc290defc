/** A table of comparisons, in columns that line up on a terminal. */

import type { Comparison } from './compare.js'

export interface Table {
  /** What is compared, under which conditions. */
  readonly title: string
  readonly peer: string
  /** What is counted, as in `requests`. */
  readonly unit: string
  readonly rows: ReadonlyArray<readonly [label: string, comparison: Comparison]>
}

/** The table as text, without a line break at its end. */
export function formatTable({ title, peer, unit, rows }: Table): string {
  const head = ['', 'gatehouse', peer, 'ratio', 'gatehouse', peer, 'ratio']
  const units = ['', `${unit}/s`, `${unit}/s`, '', 'CPU ms', 'CPU ms', '']
  const lines = rows.map(([label, { product, peer: other, speedRatio, cpuRatio }]) => [
    label,
    ...[product.perSecond, other.perSecond, speedRatio].map(formatNumber),
    ...[product.cpuMsPerOperation, other.cpuMsPerOperation, cpuRatio].map(formatNumber),
  ])
  const grid = [head, units, ...lines]
  const widths = head.map((_, column) =>
    Math.max(...grid.map((cells) => cellOf(cells, column).length)),
  )
  const text = grid.map((cells) =>
    widths.map((width, column) => pad(cellOf(cells, column), { width, column })).join('  '),
  )
  return [title, ...text].join('\n')
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
