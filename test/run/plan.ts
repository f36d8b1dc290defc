/** Decides which test files of a run share a process. */

/** The files of one process, in the order in which they run. */
export interface ProcessPlan {
  readonly name: string
  readonly files: readonly string[]
}

/** Files that share a process; each process costs about a second to start. */
const FILES_PER_PROCESS = 16

/**
 * Folders below dist/test/ whose files have a process each: they start whole servers, measure
 * memory, or run for long, so that the processes of a run end at about the same time.
 */
const OWN_PROCESS = /^dist\/test\/(journeys|threats|optional)\//

/**
 * Groups test files by folder, because files of one folder load the same modules. Processes that
 * take long come first.
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

/** `dist/test/cgi/run.test.js` as a part of a file name: `cgi-run`. */
function nameOf(file: string): string {
  return file
    .replace(/^dist\/test\//, '')
    .replace(/\.test\.js$/, '')
    .replaceAll('/', '-')
}
