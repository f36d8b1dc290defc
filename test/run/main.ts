/** Runs the test suite, or the files that are named: `node dist/test/run/main.js [FILE…]`. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { PROGRESS_VARIABLE } from './file-result.js'
import { type ProcessPlan, planProcesses } from './plan.js'
import { startPool } from './pool.js'
import { showProgress } from './progress.js'
import { startServices } from './services.js'

const TESTS = 'dist/test'
/** Folder of the files that are run, one for each process. */
const PROCESSES = 'dist/test/run/processes'

/** Several processes per CPU, because tests also wait for programs, disks and timers. */
const PROCESSES_PER_CPU = 3

const named = process.argv.slice(2)
process.exitCode = await runTests(named.length > 0 ? named : findTestFiles())

/**
 * Runs test files; returns the exit code of the run. The last line of standard output has the
 * totals.
 */
async function runTests(files: readonly string[]): Promise<number> {
  const services = await startServices(files.length)
  const progressFile = join(services.folder, 'progress')
  for (const note of services.notes) process.stderr.write(`${note}\n`)
  const progress = showProgress(progressFile, files.length)
  try {
    const pool = startPool(writeProcessFiles(planProcesses(files)), {
      jobs: Math.ceil(availableParallelism() * PROCESSES_PER_CPU),
      folder: services.folder,
      environment: { ...services.environment, [PROGRESS_VARIABLE]: progressFile },
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
    .filter((path) => path.endsWith('.test.js'))
    .filter((path) => !path.startsWith('optional/') && !path.startsWith('run/processes/'))
    .map((path) => `${TESTS}/${path}`)
}

/** Writes a test file for each process and returns their paths. */
function writeProcessFiles(plans: readonly ProcessPlan[]): readonly string[] {
  rmSync(PROCESSES, { recursive: true, force: true })
  mkdirSync(PROCESSES, { recursive: true })
  return plans.map(({ name, files }, at) => {
    // tap runs the files in the order of their names.
    const path = `${PROCESSES}/${String(at).padStart(3, '0')}-${name}.test.js`
    writeFileSync(
      path,
      `import { runFiles } from '../process.js'\nawait runFiles(${JSON.stringify(files)})\n`,
    )
    return path
  })
}
