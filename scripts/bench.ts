/** Entry point of the benchmarks: runs them by name, or all, and prints their tables. */

import { setMaxListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { API_BENCHMARK, WEB_BENCHMARK } from './benchmarks/api.js'
import type { Benchmark } from './benchmarks/benchmark.js'
import { CLONE_BENCHMARK } from './benchmarks/clone.js'
import { DATABASE_BENCHMARK } from './benchmarks/database.js'
import { FLEET_BENCHMARK } from './benchmarks/fleet.js'
import { DAY_BENCHMARK } from './benchmarks/fleet-day.js'
import { HTTP_BENCHMARK } from './benchmarks/http.js'
import { LFS_BENCHMARK } from './benchmarks/lfs.js'
import { INDEX_BENCHMARK } from './benchmarks/package-index.js'
import { PACKAGES_BENCHMARK } from './benchmarks/packages.js'
import { REFS_BENCHMARK } from './benchmarks/refs.js'
import { RUNNERS_BENCHMARK } from './benchmarks/runners.js'
import { SENDFILE_BENCHMARK } from './benchmarks/sendfile.js'
import { SSH_BENCHMARK } from './benchmarks/ssh.js'
import { formatTable } from './benchmarks/table.js'
import { TLS_BENCHMARK } from './benchmarks/tls.js'

const BENCHMARKS: readonly Benchmark[] = [
  HTTP_BENCHMARK,
  API_BENCHMARK,
  WEB_BENCHMARK,
  CLONE_BENCHMARK,
  FLEET_BENCHMARK,
  REFS_BENCHMARK,
  DAY_BENCHMARK,
  SENDFILE_BENCHMARK,
  TLS_BENCHMARK,
  LFS_BENCHMARK,
  DATABASE_BENCHMARK,
  RUNNERS_BENCHMARK,
  SSH_BENCHMARK,
  PACKAGES_BENCHMARK,
  INDEX_BENCHMARK,
]

process.exitCode = await main(process.argv.slice(2))

/** Runs benchmarks. Returns the exit status: 0, or 2 for an unknown name. Throws if one fails. */
async function main(words: readonly string[]): Promise<number> {
  const inputs = words.map(readInput)
  const unknown = words.find((_, at) => inputs[at] === undefined)
  if (unknown !== undefined) {
    const lines = BENCHMARKS.map(({ name, about, sizes }) => {
      const chosen = sizes === undefined ? '' : ` (${name}=${sizes.join(',')})`
      return `  ${name.padEnd(10)}${about}${chosen}`
    })
    console.error(`There is no benchmark '${unknown}'. Benchmarks:\n${lines.join('\n')}`)
    return 2
  }
  console.log(
    `${availableParallelism()} CPUs, Node ${process.versions.node}, ` +
      `load before the start ${loadavg()[0]?.toFixed(2)} (on a busy machine, only ratios are valid)`,
  )
  const all = BENCHMARKS.map((benchmark): Input => ({ benchmark, sizes: benchmark.sizes ?? [] }))
  for (const input of words.length === 0 ? all : inputs) if (input !== undefined) await run(input)
  return 0
}

interface Input {
  readonly benchmark: Benchmark
  readonly sizes: readonly number[]
}

/** Parses a name, or `NAME=SIZE,SIZE` for a benchmark with sizes; undefined if it is invalid. */
function readInput(word: string): Input | undefined {
  const [, name, chosen] = /^([a-z]+)(?:=([1-9]\d*(?:,[1-9]\d*)*))?$/.exec(word) ?? []
  const benchmark = BENCHMARKS.find((candidate) => candidate.name === name)
  if (benchmark === undefined) return undefined
  if (chosen === undefined) return { benchmark, sizes: benchmark.sizes ?? [] }
  return benchmark.sizes && { benchmark, sizes: chosen.split(',').map(Number) }
}

async function run({ benchmark, sizes }: Input): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'))
  const interruption = new AbortController()
  // Each of many concurrent clients adds a listener.
  setMaxListeners(0, interruption.signal)
  const interrupt = () => interruption.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    for await (const table of benchmark.run({ folder, signal: interruption.signal }, sizes)) {
      console.log(`\n${formatTable(table)}`)
    }
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
