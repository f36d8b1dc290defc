/** Check of the Node.js version. */

import { readFileSync } from 'node:fs'
import satisfies from 'semver/functions/satisfies.js'
import { findProgramFile } from '../../conf/lib/program-file.js'

/**
 * Returns why the program cannot run on this version, or undefined if it can. SQLite's driver ends
 * an older Node.js with a segmentation fault, so this is checked before a database is opened.
 */
export function refuseNode(version = process.versions.node): string | undefined {
  const { engines } = JSON.parse(readFileSync(findProgramFile('package.json'), 'utf8'))
  if (satisfies(version, engines.node)) return undefined
  return `Node.js ${engines.node} is required; this is ${version}. Use ./scripts/gatehouse.`
}
