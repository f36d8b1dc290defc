/** The real git, behind a script that records each start of the program `git`. */

import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findGit, type Git } from '../../cgi/process/git.js'

export interface CountedGit extends Git {
  /** Returns the first argument of each start so far, such as `upload-pack`. */
  started(): Promise<readonly string[]>
}

/** Writes the script and its record into the folder. */
export async function countedGit(folder: string): Promise<CountedGit> {
  const git = await findGit()
  const [file, notes] = [join(folder, 'counted-git'), join(folder, 'starts')]
  await writeFile(file, `#!/bin/sh\necho "$1" >> '${notes}'\nexec '${git.file}' "$@"\n`)
  await chmod(file, 0o755)
  await writeFile(notes, '')
  return {
    ...git,
    file,
    started: async () => (await readFile(notes, 'utf8')).split('\n').slice(0, -1),
  }
}
