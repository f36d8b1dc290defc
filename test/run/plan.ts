/** Distribution of test files to processes. */

/** Files of one process, in the order in which they run. */
export interface ProcessPlan {
  readonly name: string
  readonly files: readonly string[]
}

/**
 * Number of files that share a process, because a process takes about a second to start. The last
 * processes have the fewest files, so that all end at about the same time.
 */
const FILES_PER_PROCESS_MAX = 80
const FILES_PER_PROCESS_MIN = 24
/** Part of the remaining files that the next process gets within these limits. */
const REMAINING_PART = 1 / 8
/** The same for files that take long. */
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
    ...groupsOf(short),
  ]
  return groups.map((group) => ({ name: nameOf(group[0] ?? ''), files: group }))
}

function groupsOf(files: readonly string[]): readonly (readonly string[])[] {
  const groups: (readonly string[])[] = []
  for (let at = 0; at < files.length; at += groups.at(-1)?.length ?? 0) {
    const part = Math.ceil((files.length - at) * REMAINING_PART)
    const count = Math.max(FILES_PER_PROCESS_MIN, Math.min(part, FILES_PER_PROCESS_MAX))
    groups.push(files.slice(at, at + count))
  }
  return groups
}

/** Returns a part of a file name for a test file: `cgi-run` for `dist/test/cgi/run.test.js`. */
function nameOf(file: string): string {
  return file
    .replace(/^dist\/test\//, '')
    .replace(/\.test\.js$/, '')
    .replaceAll('/', '-')
}
