/** Cache keys of git's answers: digests of everything that an answer depends on. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Git } from '../../cgi/process/git.js'
import { hidesReferences, type RepositoryState } from '../../cgi/repository/repository-state.js'
import type { FetchRequest } from './normal-fetch.js'
import type { NormalRequest } from './normal-request.js'
import type { ReferenceList } from './reference-list.js'

/** The refs that a request is answered from, and the repository state in which they were read. */
export interface Seen {
  readonly state: RepositoryState
  readonly references: ReferenceList
}

/** File that an answer is written to, and the limits of the writing. */
export interface WriteOptions {
  /** File descriptor of an empty file, open for writing. */
  readonly file: number
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Called with the id of git's process group. */
  readonly onStarted: (groupId: number) => void
}

/** A fetch, with the refs and the repository state that it is answered from. */
export interface Wanted extends Seen {
  readonly request: FetchRequest
  /** Writes the answer; if absent, git's upload-pack does. See `writeByGit`. */
  readonly write?: (options: WriteOptions) => Promise<boolean>
  /** Writes the answer without a git process; see `SmallAnswers.write`, which does if absent. */
  readonly writeSmall?: (options: Pick<WriteOptions, 'file' | 'signal'>) => Promise<boolean>
}

/** Returns true if the answer depends on refs other than those of the wanted objects. */
export function dependsOnAll(request: NormalRequest, state: RepositoryState): boolean {
  if (request.command === 'ls-refs') return false
  // Git sends hidden tags for `include-tag` too, and the ref list does not contain hidden refs.
  return request.asksReferences || (request.includesTags && hidesReferences(state))
}

/** Version of the cache; increment it when stored answers or their file format change. */
const FORMAT = 4

/** Returns the prefix that the cache keys of all answers of a repository share. */
export function answersPrefix(repositoryPath: string): string {
  return createHash('sha256').update(basename(repositoryPath)).digest('hex').slice(0, 16)
}

type GitIdentity = Pick<Git, 'version' | 'configFile'>

/** Returns a digest of git's version and of the text of its configuration file. */
export function gitDigestOf({ version, configFile }: GitIdentity): string {
  const text = `${version.join('.')}\n${readFileSync(configFile, 'utf8')}`
  return createHash('sha256').update(text).digest('hex')
}

interface KeyedInputs extends Seen {
  readonly repositoryPath: string
  readonly name: string
}

/** Computes cache keys for one git executable and its configuration. */
export class AnswerNames {
  readonly #gitDigest: string
  /** Last key of each request, with the inputs from which it was computed. */
  readonly #last = new WeakMap<FetchRequest, KeyedInputs>()

  constructor(git: GitIdentity) {
    this.#gitDigest = gitDigestOf(git)
  }

  /**
   * Returns the cache key of a fetch. If two fetches have equal keys, git answers them equally. The
   * key does not cover the ref list, so a push to one branch keeps the answers for other branches;
   * callers check for every request that the wanted objects are tips of refs. The key covers all
   * tags if the client sends `include-tag`, and the whole repository state if the answer depends on
   * other refs.
   */
  nameOf(repositoryPath: string, wanted: Wanted): string {
    const { request, state, references } = wanted
    const last = this.#last.get(request)
    const isSame = last?.state === state && last.references === references
    if (isSame && last.repositoryPath === repositoryPath) return last.name
    const digest = createHash('sha256')
      .update(
        JSON.stringify([
          FORMAT,
          this.#gitDigest,
          repositoryPath,
          state.settingsText,
          request.includesTags ? references.tagsDigest : '',
          dependsOnAll(request, state) ? state.text : '',
          request.text,
        ]),
      )
      .digest('hex')
    const name = answersPrefix(repositoryPath) + digest
    this.#last.set(request, { state, references, repositoryPath, name })
    return name
  }
}
