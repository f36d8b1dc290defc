/** A repository whose answers by the gateway are compared with those by git. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Git } from '../../cgi/process/git.js'
import type { Question } from './fetch-questions.js'
import type { Gatehouse, Person } from './gatehouse.js'
import { tryGit } from './git-client.js'
import { succeeds } from './small-disk.js'

export interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly ours: Git
  /** Path of the URL, such as `/ada/r0.git`. */
  readonly address: string
  /** Path of the bare repository. */
  readonly path: string
  readonly work: string
  /** Path of a repository in which every object stays that this one ever had. */
  readonly archive: string
  /** Earlier requests, which are sent again because most clients send equal requests. */
  readonly requests: Question[]
  /** Commits that are or were the tip of a ref. */
  readonly tips: string[]
}

/** Runs git in the bare repository. Failures, such as a missing branch, are ignored. */
export function inBare({ path }: Scene, ...words: readonly string[]): Promise<unknown> {
  return tryGit(words, { cwd: path })
}

/** Adds the present objects of the bare repository to the archive. */
export async function archiveObjects({ path, archive }: Scene): Promise<void> {
  const from = join(path, 'objects')
  // A folder of a push that has just ended may disappear.
  const folders = (await readdir(from)).filter((name) => /^(?:pack|[0-9a-f]{2})$/.test(name))
  const words = ['--recursive', '--update', '--force', ...folders.map((name) => join(from, name))]
  const isCopied = await succeeds('cp', ...words, join(archive, 'objects'))
  if (!isCopied) throw new Error('the objects were not copied')
}
