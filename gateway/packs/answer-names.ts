/** What answers of git are kept under: digests of all that they are a function of. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Git } from '../../cgi/process/git.js'
import type { RepositoryState } from '../../cgi/repository/repository-state.js'
import type { FetchRequest, NormalRequest } from './normal-request.js'
import type { ReferenceList } from './reference-list.js'

/** The references that a request is answered from, and the state that they were seen in. */
export interface Seen {
  readonly state: RepositoryState
  readonly references: ReferenceList
}

/** What a client asks for. */
export interface Wanted extends Seen {
  readonly request: FetchRequest
}

/** Whether references besides those that are wanted have a say in the answer. */
export function dependsOnAll(request: NormalRequest, { settingsText }: RepositoryState): boolean {
  if (request.command === 'ls-refs') return false
  // Hidden tags are sent along as well, and are not among those that are known here.
  return request.asksReferences || (request.includesTags && /hiderefs/i.test(settingsText))
}

/** Raised with every change of what is kept or how. */
const FORMAT = 3

/** Beginning of the names of all answers of a repository, by which they can be removed. */
export function answersPrefix(repositoryPath: string): string {
  return createHash('sha256').update(basename(repositoryPath)).digest('hex').slice(0, 16)
}

interface KeyedInputs extends Seen {
  readonly repositoryPath: string
  readonly name: string
}

/** The names of answers of one git. */
export class AnswerNames {
  /** Changes with git and with how it is configured. */
  readonly #gitDigest: string
  /** Last key of each request, with the inputs from which it was computed. */
  readonly #last = new WeakMap<FetchRequest, KeyedInputs>()

  constructor({ version, configFile }: Pick<Git, 'version' | 'configFile'>) {
    const text = `${version.join('.')}\n${readFileSync(configFile, 'utf8')}`
    this.#gitDigest = createHash('sha256').update(text).digest('hex')
  }

  /**
   * Equal where git answers alike. The references are no part of it, but that the wanted objects
   * are among them is asked each time: so a push to one branch leaves the answers for others. Where
   * tags are sent along, the tags are part of it; where other references have a say, the whole
   * state is.
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
