/** Distribution of test files to processes. */

/** Files of one process, in the order in which they run. */
export interface ProcessPlan {
  readonly name: string
  readonly files: readonly string[]
}

/** Number of files that share a process, because a process takes about a second to start. */
const FILES_PER_PROCESS = 64
/** The same for files that take long, so that all processes end at about the same time. */
const LONG_FILES_PER_PROCESS = 8

/** Pattern of files that take long, because they start servers or run for long. */
const LONG = /^dist\/test\/(journeys|threats|optional)\//

/**
 * Groups test files by folder, because the files of a folder load the same modules. The files that
 * take long come first.
 */
export function planProcesses(files: readonly string[]): readonly ProcessPlan[] {
  const sorted = files.toSorted()
  const long = sorted.filter((file) => LONG.test(file))
  const short = sorted.filter((file) => !LONG.test(file))
  const longProcesses = Math.ceil(long.length / LONG_FILES_PER_PROCESS)
  const groups = [
    ...Array.from({ length: longProcesses }, (_, first) =>
      long.filter((_, at) => at % longProcesses === first),
    ),
    ...Array.from({ length: Math.ceil(short.length / FILES_PER_PROCESS) }, (_, at) =>
      short.slice(at * FILES_PER_PROCESS, (at + 1) * FILES_PER_PROCESS),
    ),
  ]
  return groups.map((group) => ({ name: nameOf(group[0] ?? ''), files: group }))
}

/** Returns a part of a file name for a test file: `cgi-run` for `dist/test/cgi/run.test.js`. */
function nameOf(file: string): string {
  return file
    .replace(/^dist\/test\//, '')
    .replace(/\.test\.js$/, '')
    .replaceAll('/', '-')
}
