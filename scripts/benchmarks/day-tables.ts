/** Tables of a simulated day: operations by kind, and totals. */

import { NO_OPERATIONS, sum, type Tally } from './day-meter.js'
import { quantile } from './quantile.js'
import type { Grid } from './table.js'

/** Operations of a server by label. */
type Tallies = ReadonlyMap<string, Tally>

export interface DayResult {
  readonly hours: number
  readonly gatehouse: Tallies
  readonly peer: Tallies
  /** Labels of the operations, in the order of the rows. */
  readonly labels: readonly string[]
  /** Label of the work between the operations. */
  readonly between: string
  /** Label of the pushes. */
  readonly push: string
  /** Requests for each command and outcome of the pack cache. */
  readonly outcomes: ReadonlyMap<string, number>
}

const PEER = 'nginx + git'

/** Formats the operations of each kind. */
export function operationsTable({ hours, gatehouse, peer, labels }: DayResult): Grid {
  const pair = ['gatehouse', PEER]
  const compared = [...pair, 'ratio']
  return {
    title: `A fleet of CI runners, ${hours} simulated h: operations of git by kind`,
    head: [
      ['', '', ...compared, ...pair, ...compared, ...pair, ...pair, 'gatehouse'],
      [
        '',
        'operations',
        'median ms',
        'median ms',
        '',
        '99 % ms',
        '99 % ms',
        'CPU ms',
        'CPU ms',
        '',
      ].concat(['requests', 'requests', 'git', 'git', 'cached']),
    ],
    cells: labels.flatMap((label) => {
      const [own, other] = [gatehouse.get(label), peer.get(label)]
      return own === undefined || other === undefined ? [] : [operationsRow(label, own, other)]
    }),
    notes: [
      'CPU, requests, git: CPU time, requests, and started git processes of the server without their',
      'children, for each operation; cached: operations of which no request missed the pack cache',
    ],
  }
}

function operationsRow(label: string, own: Tally, other: Tally): Grid['cells'][number] {
  const count = own.durationsMs.length
  const [ownMs, otherMs] = [quantile(own.durationsMs, 0.5), quantile(other.durationsMs, 0.5)]
  return [
    label,
    String(count),
    ownMs,
    otherMs,
    divide(ownMs, otherMs),
    quantile(own.durationsMs, 0.99),
    quantile(other.durationsMs, 0.99),
    divide(own.cpuMs, count),
    divide(other.cpuMs, count),
    divide(own.cpuMs, other.cpuMs),
    own.requests / count,
    other.requests / count,
    own.startedGit / count,
    other.startedGit / count,
    percent(own.cached / count),
  ]
}

/** Formats the totals of the day. */
export function totalsTable(result: DayResult): Grid {
  const { hours, labels, between, push, outcomes } = result
  const totalOf = (names: readonly string[]) => {
    const of = (tallies: Tallies) => sum(names.map((name) => tallies.get(name) ?? NO_OPERATIONS))
    return [of(result.gatehouse), of(result.peer)] as const
  }
  const jobs = labels.filter((label) => label !== push)
  const [own, other] = totalOf(labels)
  const row = (name: string, one: number | undefined, two: number | undefined) =>
    [name, one, two, divide(one, two)] as const
  const cpuRow = (name: string, names: readonly string[]) => {
    const [one, two] = totalOf(names)
    return row(`CPU s, ${name}`, divide(one.cpuMs, 1_000), divide(two.cpuMs, 1_000))
  }
  return {
    title: `A fleet of CI runners, ${hours} simulated h: totals`,
    head: [['', 'gatehouse', PEER, 'ratio']],
    cells: [
      ['operations', String(own.durationsMs.length), String(other.durationsMs.length)],
      row('duration of all operations, s', secondsOf(own), secondsOf(other)),
      cpuRow('pushes', [push]),
      cpuRow('jobs', jobs),
      cpuRow('between the operations', [between]),
      cpuRow('total', [...labels, between]),
      row('requests', own.requests, other.requests),
      row('git processes started, without children', own.startedGit, other.startedGit),
      ['requests without git', requestsWithoutGit(own), requestsWithoutGit(other)],
      ['operations from the cache', operationsFromCache(own), operationsFromCache(other)],
    ],
    notes: [
      'between the operations: maintenance, as far as it did not run during an operation',
      `requests to the pack cache: ${[...outcomes].map((pair) => pair.join(' ')).join(', ')}`,
    ],
  }
}

const requestsWithoutGit = ({ requests, startedGit }: Tally) => percent(1 - startedGit / requests)
const operationsFromCache = ({ cached, durationsMs }: Tally) => percent(cached / durationsMs.length)

function secondsOf({ durationsMs }: Tally): number {
  return durationsMs.reduce((total, ms) => total + ms, 0) / 1_000
}

/** Returns the ratio; undefined if a figure is unknown or if the second one is 0. */
function divide(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined || other === 0 ? undefined : one / other
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
