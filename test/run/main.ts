/** Runs the test suite, or the files that are named: `node dist/test/run/main.js [FILE…]`. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { PROGRESS_VARIABLE } from './file-result.js'
import { type ProcessPlan, planProcesses } from './plan.js'
import { showProgress } from './progress.js'
import { startServices } from './services.js'

const TESTS = 'dist/test'
/** Folder of the files that tap runs, one for each process. */
const PROCESSES = 'dist/test/run/processes'
const TAP = 'node_modules/tap/dist/esm/run.mjs'

/** Two processes per CPU, because tests also wait for programs, disks and timers. */
const PROCESSES_PER_CPU = 2

const named = process.argv.slice(2)
process.exitCode = await runTests(named.length > 0 ? named : findTestFiles())

/** Runs test files with tap; returns its exit code. */
async function runTests(files: readonly string[]): Promise<number> {
  const services = await startServices(files.length)
  const progressFile = join(services.folder, 'progress')
  for (const note of services.notes) process.stderr.write(`${note}\n`)
  const progress = showProgress(progressFile, files.length)
  try {
    const jobs = Math.ceil(availableParallelism() * PROCESSES_PER_CPU)
    const args = [TAP, `--jobs=${jobs}`, ...writeProcessFiles(planProcesses(files))]
    const tap = spawn(process.execPath, args, {
      stdio: 'inherit',
      env: { ...process.env, ...services.environment, [PROGRESS_VARIABLE]: progressFile },
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tap.kill(signal))
    const [code] = (await once(tap, 'exit')) as [number | null]
    return code ?? 1
  } finally {
    progress.end()
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
