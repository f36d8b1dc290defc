/** Files that ship with the program but are not compiled: styles, scripts, git's configuration. */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Maximum depth of the compiled program below the root of the clone. */
const FOLDERS_MAX = 4

/**
 * Returns the absolute path of a file that is named from the root of the clone, such as
 * `conf/git.config`. Throws if it is missing.
 */
export function findProgramFile(path: string): string {
  const file = programFileAt(path)
  if (file === undefined) throw new Error(`${path} is missing beside the program`)
  return file
}

/** Returns the command that runs the command line of this installation as the server's user. */
export function commandOfInstallation(): string {
  if (programFileAt('scripts/gatehouse') !== undefined) return './scripts/gatehouse'
  // The archive of a release has this program; the Debian package has one on the PATH.
  return programFileAt('bin/gatehouse') ?? 'sudo -u git gatehouse'
}

function programFileAt(path: string): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url))
  for (let depth = 0; depth < FOLDERS_MAX; depth += 1) {
    const file = join(folder, path)
    if (existsSync(file)) return file
    folder = dirname(folder)
  }
  return undefined
}
