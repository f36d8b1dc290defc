/** Runs benchmarks by name, or all of them, and prints what each finds. */

import { setMaxListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Benchmark } from './benchmarks/benchmark.js'
import { CLONE_BENCHMARK } from './benchmarks/clone.js'
import { HTTP_BENCHMARK } from './benchmarks/http.js'
import { PACKAGES_BENCHMARK } from './benchmarks/packages.js'
import { SSH_BENCHMARK } from './benchmarks/ssh.js'
import { formatTable } from './benchmarks/table.js'

const BENCHMARKS: readonly Benchmark[] = [
  ...[HTTP_BENCHMARK, CLONE_BENCHMARK, SSH_BENCHMARK, PACKAGES_BENCHMARK],
]

process.exitCode = await main(process.argv.slice(2))

/** 0 when everything was measured, 1 when something could not be, 2 for an unknown name. */
async function main(names: readonly string[]): Promise<number> {
  const unknown = names.find((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name))
  if (unknown !== undefined) {
    const lines = BENCHMARKS.map(({ name, about }) => `  ${name.padEnd(10)}${about}`)
    console.error(`There is no benchmark '${unknown}', but:\n${lines.join('\n')}`)
    return 2
  }
  console.log(
    `${availableParallelism()} CPUs, Node ${process.versions.node}, ` +
      `load before the start ${loadavg()[0]?.toFixed(2)} (on a busy machine, read the ratios)`,
  )
  const wanted = BENCHMARKS.filter(({ name }) => names.length === 0 || names.includes(name))
  for (const benchmark of wanted) await run(benchmark)
  return 0
}

async function run(benchmark: Benchmark): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'))
  const interruption = new AbortController()
  // Each of many clients at once listens.
  setMaxListeners(0, interruption.signal)
  const interrupt = () => interruption.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    for await (const table of benchmark.run({ folder, signal: interruption.signal })) {
      console.log(`\n${formatTable(table)}`)
    }
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}
