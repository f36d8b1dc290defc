/** Order in which the test files of a run start. */

/** Pattern of files that take long and mostly wait: for servers that they start, or for a time. */
const LONG = /^dist\/test\/(journeys|threats|optional|cgi\/maintenance)\//

/**
 * Sorts files: those that take long come first. Half of the processes begin with them, and the
 * others at the end of the list, so that some always compute while others wait.
 */
export function orderFiles(files: readonly string[]): readonly string[] {
  const sorted = files.toSorted()
  const long = sorted.filter((file) => LONG.test(file))
  return [...long, ...sorted.filter((file) => !LONG.test(file))]
}
