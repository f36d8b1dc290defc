/** Branch that HEAD names, which need not exist. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const BRANCH = /^ref: refs\/heads\/(\S+)\n$/

/** Returns the name without `refs/heads/`; undefined if HEAD is detached. */
export async function readHeadBranch(path: string): Promise<string | undefined> {
  return BRANCH.exec(await readFile(join(path, 'HEAD'), 'utf8'))?.[1]
}
