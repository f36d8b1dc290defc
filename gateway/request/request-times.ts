/** How long answers took: a histogram for the one place where a library's own costs too much. */

import type { Histogram, MetricValueWithName } from 'prom-client'

/** What an answer is counted under. */
export interface RequestLabels {
  readonly door: string
  readonly method: string
  readonly status: number
}

export interface RequestTimes {
  observe(labels: RequestLabels, seconds: number): void
  /** To be registered; it is read and added up over the workers like any other. */
  readonly metric: Histogram
}

/** The answers of one combination of labels. */
interface Cell extends RequestLabels {
  /** How many fell into each bucket and not into the one before; the last has no bound. */
  readonly counts: number[]
  seconds: number
}

const NAME = 'gatehouse_http_request_seconds'
const BOUNDS_SECONDS: readonly number[] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

/**
 * Counts in plain numbers. The library's histogram sorts and joins the labels of each observation
 * into a key: a sixth of the time that the smallest answer takes.
 */
export function createRequestTimes(): RequestTimes {
  /** By door, method and status: to join these into one key would cost more than all the rest. */
  const doors = new Map<string, Map<string, Map<number, Cell>>>()
  let last: Cell | undefined
  const metric = {
    name: NAME,
    help: 'Time to the end of the answer, by door, method and status.',
    type: 'histogram',
    aggregator: 'sum',
    async get() {
      const cells = [...doors.values()].flatMap((methods) =>
        [...methods.values()].flatMap((statuses) => [...statuses.values()]),
      )
      return { ...metric, values: cells.flatMap(valuesOf) }
    },
  }
  return {
    observe(labels, seconds) {
      const { door, method, status } = labels
      // Most are like the one before.
      if (last?.door !== door || last.method !== method || last.status !== status) {
        last = cellOf(doors, labels)
      }
      const cell = last
      let bucket = 0
      while (seconds > (BOUNDS_SECONDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
      cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1
      cell.seconds += seconds
    },
    // A registry asks no more of a metric than its name and its values.
    metric: metric as unknown as Histogram,
  }
}

function cellOf(
  doors: Map<string, Map<string, Map<number, Cell>>>,
  { door, method, status }: RequestLabels,
): Cell {
  const methods = doors.get(door) ?? new Map<string, Map<number, Cell>>()
  const statuses = methods.get(method) ?? new Map<number, Cell>()
  const known = statuses.get(status)
  if (known !== undefined) return known
  const counts = new Array<number>(BOUNDS_SECONDS.length + 1).fill(0)
  const cell = { door, method, status, counts, seconds: 0 }
  doors.set(door, methods.set(method, statuses.set(status, cell)))
  return cell
}

/** As Prometheus reads a histogram: each bucket counts those below it as well. */
function valuesOf({ counts, seconds, ...labels }: Cell): MetricValueWithName<string>[] {
  let count = 0
  const buckets = counts.map((inBucket, index) => {
    count += inBucket
    const le = BOUNDS_SECONDS[index] ?? '+Inf'
    return { metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: seconds },
    { metricName: `${NAME}_count`, labels, value: count },
  ]
}
