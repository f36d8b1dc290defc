/** Distribution of test files to processes. */

/** Files of one process, in the order in which they run. */
export interface ProcessPlan {
  readonly name: string
  readonly files: readonly string[]
}

/** Number of files that share a process, because a process takes about a second to start. */
const FILES_PER_PROCESS = 16

/**
 * Pattern of files with their own process: they start servers, measure memory or run for long.
 * Separate processes also end at about the same time.
 */
const OWN_PROCESS = /^dist\/test\/(journeys|threats|optional)\//

/**
 * Groups test files by folder, because the files of a folder load the same modules. The files with
 * their own process come first, because they take long.
 */
export function planProcesses(files: readonly string[]): readonly ProcessPlan[] {
  const own = files.filter((file) => OWN_PROCESS.test(file))
  const shared = files.filter((file) => !OWN_PROCESS.test(file)).toSorted()
  const plans = own.toSorted().map((file) => ({ name: nameOf(file), files: [file] }))
  for (let at = 0; at < shared.length; at += FILES_PER_PROCESS) {
    const part = shared.slice(at, at + FILES_PER_PROCESS)
    plans.push({
      name: `${String(plans.length).padStart(3, '0')}-${nameOf(part[0] ?? '')}`,
      files: part,
    })
  }
  return plans
}

/** Returns a part of a file name for a test file: `cgi-run` for `dist/test/cgi/run.test.js`. */
function nameOf(file: string): string {
  return file
    .replace(/^dist\/test\//, '')
    .replace(/\.test\.js$/, '')
    .replaceAll('/', '-')
}
