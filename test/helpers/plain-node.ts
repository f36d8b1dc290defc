/** Node.js without the test runner's options. */

/**
 * Arguments of env(1) before a script. The test runner makes each Node.js process load a recorder
 * in a thread, which takes 50% more memory and twice the time to start.
 */
export const PLAIN_NODE: readonly string[] = ['-u', 'NODE_OPTIONS', process.execPath]
