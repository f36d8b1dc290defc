/** Runs the test suite, or the files that are named: `node dist/test/run/main.js [FILE…]`. */

import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { lowerThreadPriority } from '../../gateway/pool/thread.js'
import { isFullSize } from '../helpers/test-size.js'
import { PROGRESS_VARIABLE } from './file-result.js'
import { orderFiles } from './order.js'
import { startPool } from './pool.js'
import { showProgress } from './progress.js'
import { QUEUE_VARIABLE, writeQueue } from './queue.js'
import { startServices } from './services.js'

const TESTS = 'dist/test'

/** Several processes per CPU, because tests also wait for programs, disks and timers. */
const PROCESSES_PER_CPU = 3

// The tests get the priority of the gateway's threads, which get no CPU time beside them otherwise.
// At full size, tests measure the latency that the priorities are for.
if (!isFullSize) lowerThreadPriority()

const named = process.argv.slice(2)
process.exitCode = await runTests(named.length > 0 ? named : findTestFiles())

/**
 * Runs test files; returns the exit code of the run. The last line of standard output has the
 * totals.
 */
async function runTests(files: readonly string[]): Promise<number> {
  const services = await startServices(files.length)
  const { folder, notes } = services
  const [progressFile, queue] = [join(folder, 'progress'), join(folder, 'queue')]
  for (const note of notes) process.stderr.write(`${note}\n`)
  const progress = showProgress(progressFile, files.length)
  try {
    await writeQueue(queue, orderFiles(files))
    const environment = { [PROGRESS_VARIABLE]: progressFile, [QUEUE_VARIABLE]: queue }
    const pool = startPool({
      jobs: Math.min(files.length, Math.ceil(availableParallelism() * PROCESSES_PER_CPU)),
      folder,
      queue,
      environment: { ...services.environment, ...environment },
      output: process.stdout,
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => pool.stop())
    return (await pool.passed) ? 0 : 1
  } finally {
    process.stdout.write(`${progress.end()}\n`)
    await services.stop()
  }
}

function findTestFiles(): readonly string[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.js') && !path.startsWith('optional/'))
    .map((path) => `${TESTS}/${path}`)
}
