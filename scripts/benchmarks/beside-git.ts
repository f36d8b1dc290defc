/** Start and stop of Gatehouse and of nginx with git, for benchmarks that compare the two. */

import type { BenchmarkContext } from './benchmark.js'
import { type Gatehouse, type GatehouseOptions, startGatehouse } from './gatehouse.js'
import { type GitPeer, type GitPeerOptions, startGitPeer } from './git-peer.js'
import type { Grid, Table } from './table.js'

/** Servers under measurement. */
export interface Servers extends BenchmarkContext {
  readonly gatehouse: Gatehouse
  readonly git: GitPeer
}

/** Yields the tables of a measurement, for which both servers run. */
export async function* besideGit(
  stage: BenchmarkContext,
  measure: (servers: Servers) => AsyncIterable<Table | Grid>,
  options: GatehouseOptions & GitPeerOptions = {},
): AsyncGenerator<Table | Grid> {
  const gatehouse = await startGatehouse(stage, options)
  try {
    const git = await startGitPeer(stage, options)
    try {
      yield* measure({ ...stage, gatehouse, git })
    } finally {
      await git.stop()
    }
  } finally {
    await gatehouse.stop()
  }
}
