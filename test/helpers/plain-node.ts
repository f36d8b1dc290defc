/** Node as people start it. */

/**
 * Words of env(1) before a script. The test runner has each Node program load a recorder, in a
 * thread of its own: it would take half as much memory again and twice the time to start.
 */
export const PLAIN_NODE: readonly string[] = ['-u', 'NODE_OPTIONS', process.execPath]
