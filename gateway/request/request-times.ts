/** Histogram of the duration of requests, which is cheaper than the library's. */

import type { Histogram, MetricValueWithName } from 'prom-client'

/** Labels of an answered request. */
export interface RequestLabels {
  readonly door: string
  readonly method: string
  readonly status: number
}

export interface RequestTimes {
  observe(labels: RequestLabels, seconds: number): void
  /** Metric to register; it is read and aggregated over the workers like any other. */
  readonly metric: Histogram
}

/** Observations with one combination of labels. */
interface Cell extends RequestLabels {
  /** Number of observations per bucket, not cumulative; the last bucket has no upper bound. */
  readonly counts: number[]
  seconds: number
}

const NAME = 'gatehouse_http_request_seconds'
const BOUNDS_SECONDS: readonly number[] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]

/**
 * Creates a histogram that adds plain numbers. The library's sorts and joins the labels of each
 * observation into a key, which takes a sixth of the time of the smallest answer.
 */
export function createRequestTimes(): RequestTimes {
  /** Cells by surface, method and status; joining these into one key costs more than the rest. */
  const doors = new Map<string, Map<string, Map<number, Cell>>>()
  let last: Cell | undefined
  const metric = {
    name: NAME,
    help: 'Time to answer a request, excluding the transfer of a streamed body, by surface (door), method and status.',
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
      // Most observations have the labels of the one before.
      if (last?.door !== door || last.method !== method || last.status !== status) {
        last = cellOf(doors, labels)
      }
      const cell = last
      let bucket = 0
      while (seconds > (BOUNDS_SECONDS[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
      cell.counts[bucket] = (cell.counts[bucket] ?? 0) + 1
      cell.seconds += seconds
    },
    // A registry uses only the name and the values of a metric.
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

/** Returns the values in the form of Prometheus, with cumulative buckets. */
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
