/** What a benchmark is: a name, and the tables that it measures. */

import type { Table } from './table.js'

export interface Benchmark {
  readonly name: string
  /** One line for the list of benchmarks. */
  readonly about: string
  /** Where it measures the same at several sizes: those of a run that names none. */
  readonly sizes?: readonly number[]
  /** Gives each table as soon as it is measured; all that it started has ended when it returns. */
  readonly run: (stage: BenchmarkContext, sizes: readonly number[]) => AsyncIterable<Table>
}

/** What a benchmark gets from whoever runs it. */
export interface BenchmarkContext {
  /** An empty folder, removed afterwards. */
  readonly folder: string
  /** Aborted when the person at the terminal has had enough. */
  readonly signal: AbortSignal
}
