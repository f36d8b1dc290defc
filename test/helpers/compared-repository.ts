/** A repository whose answers by the gateway are compared with those by git. */

import type { Git } from '../../cgi/process/git.js'
import type { Question } from './fetch-questions.js'
import type { Gatehouse, Person } from './gatehouse.js'
import { tryGit } from './git-client.js'

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
