/** Node.js without the test runner's options. */

/** Folder of the compiled code that the processes of this run share, if any. */
const compiled = process.env['NODE_COMPILE_CACHE']

/**
 * Arguments of env(1) before a script. The test runner makes each Node.js process load a recorder
 * in a thread, which takes 50% more memory and twice the time to start.
 */
export const PLAIN_NODE: readonly string[] = [
  '-u',
  'NODE_OPTIONS',
  ...(compiled === undefined ? [] : [`NODE_COMPILE_CACHE=${compiled}`]),
  process.execPath,
]
