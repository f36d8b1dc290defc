/** Objects as git itself reads them, to compare others with. */

import type { GitObject } from '../../cgi/objects/cat-file.js'
import { openObjects } from '../../cgi/objects/objects.js'
import { findGit } from '../../cgi/process/git.js'

const ours = await findGit()

/** Reads an object by a process of its own. */
export async function readByGit(path: string, name: string): Promise<GitObject | undefined> {
  const { objects, close } = await openObjects(ours, path)
  return await objects.read(name).finally(close)
}
