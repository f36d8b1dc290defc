/** Type of a benchmark. */

import type { Grid, Table } from './table.js'

export interface Benchmark {
  readonly name: string
  /** Description in the list of benchmarks. */
  readonly about: string
  /** Default sizes; absent if the benchmark has no sizes. */
  readonly sizes?: readonly number[]
  /** Yields each table when it is measured. Stops all its processes before it returns. */
  readonly run: (stage: BenchmarkContext, sizes: readonly number[]) => AsyncIterable<Table | Grid>
}

/** Environment of a benchmark run. */
export interface BenchmarkContext {
  /** Empty folder, removed afterwards. */
  readonly folder: string
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal
}
