/**
 * Program of a test run's process: runs test files one after the other as subtests. The argument is
 * the end of the queue from which it takes them.
 */

import { appendFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { t as root, type Test } from 'tap'
import { childrenCpuSeconds } from '../../cgi/process/process-table.js'
import { FILE_TIMEOUT_MS, type FileResult, PROGRESS_VARIABLE } from './file-result.js'
import { QUEUE_VARIABLE, takeFiles } from './queue.js'

type Counts = Pick<Test['counts'], 'pass' | 'fail' | 'skip' | 'todo'>

/** Methods of the root test that test files and helpers call. */
type RootTest = Pick<Test, 'test' | 'teardown' | 'testdir'>

// Many servers and child processes of tests add a listener for the exit of this process.
process.setMaxListeners(0)
const startFile = root.test.bind(root)
let current: Test = root
process.on('uncaughtException', (error) => current.threw(error))
const queueEnd = process.argv[2] === 'last' ? 'last' : 'first'
for await (const file of takeFiles(process.env[QUEUE_VARIABLE] ?? '', queueEnd)) await runFile(file)

/**
 * Runs a file. Meanwhile, the methods of the root test are those of the file's subtest, so that its
 * teardowns run when the file ends.
 */
async function runFile(file: string): Promise<void> {
  const startedAtMs = Date.now()
  const cpuBeforeMs = await cpuTimeMs()
  let counts: Counts | undefined
  const result = await startFile(file, { timeout: FILE_TIMEOUT_MS }, async (t) => {
    counts = t.counts
    current = t
    Object.assign<RootTest, RootTest>(root, {
      test: t.test.bind(t),
      teardown: t.teardown.bind(t),
      testdir: t.testdir.bind(t),
    })
    await import(pathToFileURL(file).href)
  })
  report({
    file,
    durationMs: Date.now() - startedAtMs,
    cpuMs: (await cpuTimeMs()) - cpuBeforeMs,
    passed: counts?.pass ?? 0,
    failed: counts?.fail ?? 0,
    skipped: (counts?.skip ?? 0) + (counts?.todo ?? 0),
    ok: result?.ok === true,
  })
}

function report(result: FileResult): void {
  const progressFile = process.env[PROGRESS_VARIABLE]
  if (progressFile !== undefined) appendFileSync(progressFile, `${JSON.stringify(result)}\n`)
}

/** Returns the CPU time of this process and of its ended children. */
async function cpuTimeMs(): Promise<number> {
  const { user, system } = process.cpuUsage()
  return Math.round((user + system) / 1_000 + (await childrenCpuSeconds()) * 1_000)
}
