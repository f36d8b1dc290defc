/** The references of repositories, asked of git once for each state. */

import { hasOwnObject } from '../../cgi/objects/object-presence.js'
import {
  movedBranches,
  type ReferenceFiles,
  readReferenceFiles,
} from '../../cgi/refs/reference-files.js'
import type { RepositoryState } from '../../cgi/repository/repository-state.js'
import { readPresentState } from '../../cgi/repository/repository-state.js'
import { isFailure } from '../../conf/failures.js'
import type { ObjectFormat } from './normal-request.js'
import { ReferenceList, referenceQuestion } from './reference-list.js'

/** What is asked: the references in that state. */
export interface ReferenceQuestion {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** On whose behalf git is asked; see `auth/client`. */
  readonly client: string
  readonly state: RepositoryState
  readonly objectFormat: ObjectFormat
}

/** Asks git, and gives its whole answer; undefined for one beyond the bound. */
export type AskReferences = (
  question: Pick<ReferenceQuestion, 'repositoryPath' | 'client'>,
  body: Buffer,
  bytesMax: number,
) => Promise<Buffer | undefined>

export interface KnownReferences {
  readonly references: ReferenceList
  /** Whether git was not asked for them this time. */
  readonly isKnown: boolean
}

/** One list as git sent it, and all of a process together with the answers made from them. */
const LIST_BYTES_MAX = 4_194_304
const BYTES_MAX = 33_554_432

interface Entry {
  readonly state: RepositoryState
  readonly objectFormat: ObjectFormat
  readonly references: ReferenceList
  /** As they were in that state; undefined where they do not tell what moves. */
  readonly files: ReferenceFiles | undefined
}

export class ReferenceLists {
  readonly #ask: AskReferences
  /** By repository, which has one format; the least recently used first. */
  readonly #entries = new Map<string, Entry>()
  readonly #asked = new Map<string, Promise<ReferenceList | undefined>>()
  /** The one that was used last, unless others came since. */
  #newest: Entry | undefined
  #bytes = 0

  constructor(ask: AskReferences) {
    this.#ask = ask
  }

  /** Those of a settled state, where they are known. */
  known(question: Omit<ReferenceQuestion, 'client'>): ReferenceList | undefined {
    const { repositoryPath, state } = question
    const entry = this.#find(question)
    if (entry?.state.text !== state.text) return undefined
    if (this.#newest !== entry) {
      this.#entries.delete(repositoryPath)
      this.#entries.set(repositoryPath, entry)
      this.#newest = entry
    }
    return entry.references
  }

  /**
   * What follows without git: from what was known of a settled state, and from what the references
   * hold at this moment. Undefined where git has to be asked.
   */
  followed(question: Omit<ReferenceQuestion, 'client'>): ReferenceList | undefined {
    const entry = this.#find(question)
    return entry && follow(entry, question)?.references
  }

  /**
   * Those of a settled state. Undefined when there are too many, when git does not tell, or when
   * they change meanwhile.
   */
  async get(question: ReferenceQuestion): Promise<KnownReferences | undefined> {
    const references = this.known(question)
    if (references !== undefined) return { references, isKnown: true }
    const { repositoryPath, objectFormat, state } = question
    const entry = this.#find(question)
    const moved = entry && follow(entry, question)
    if (moved !== undefined) {
      this.#remember(repositoryPath, moved)
      return { references: moved.references, isKnown: true }
    }
    const key = `${repositoryPath} ${objectFormat} ${state.text}`
    const asking = this.#asked.get(key)
    try {
      const references = await (asking ?? this.#start(key, question))
      return references === undefined ? undefined : { references, isKnown: false }
    } catch (error) {
      // Another client has had its share; this one has its own.
      if (asking !== undefined && isFailure(error, 'throttled')) return this.get(question)
      throw error
    }
  }

  #find({
    repositoryPath,
    objectFormat,
  }: Pick<ReferenceQuestion, 'repositoryPath' | 'objectFormat'>): Entry | undefined {
    const entry = this.#entries.get(repositoryPath)
    return entry?.objectFormat === objectFormat ? entry : undefined
  }

  #start(key: string, question: ReferenceQuestion): Promise<ReferenceList | undefined> {
    const { repositoryPath, state, objectFormat } = question
    const ask = async () => {
      const body = referenceQuestion(objectFormat)
      const answer = await this.#ask(question, body, LIST_BYTES_MAX)
      const references = answer === undefined ? undefined : ReferenceList.parse(answer)
      const files = readReferenceFiles(repositoryPath)
      const isSame = readPresentState(repositoryPath)?.text === state.text
      if (answer === undefined || references === undefined || !isSame) return undefined
      this.#remember(repositoryPath, { state, objectFormat, references, files })
      return references
    }
    const asking = ask().finally(() => this.#asked.delete(key))
    this.#asked.set(key, asking)
    return asking
  }

  #remember(repositoryPath: string, entry: Entry): void {
    this.#forget(repositoryPath)
    this.#entries.set(repositoryPath, entry)
    this.#newest = entry
    this.#bytes += entry.references.weightBytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= BYTES_MAX) return
      this.#forget(oldest)
    }
  }

  #forget(repositoryPath: string): void {
    this.#bytes -= this.#entries.get(repositoryPath)?.references.weightBytes ?? 0
    this.#entries.delete(repositoryPath)
  }
}

/**
 * The list of a repository in which nothing but branches moved since, as after most pushes; so the
 * first clone of a new commit spares a process. Undefined: git is to be asked.
 */
function follow(
  known: Entry,
  { repositoryPath, state }: Omit<ReferenceQuestion, 'client'>,
): Entry | undefined {
  // Settings decide which references show.
  if (known.files === undefined || known.state.settingsText !== state.settingsText) return undefined
  const files = readReferenceFiles(repositoryPath)
  const moved = files && movedBranches(known.files, files)
  if (moved === undefined) return undefined
  // Git leaves out a branch whose commit is lost.
  for (const oid of moved.values()) if (!hasOwnObject(repositoryPath, oid)) return undefined
  const references = known.references.withMoved(moved)
  if (references === undefined) return undefined
  // What is to be remembered has to be all of that state; git itself reads one after the other.
  const isSame = !state.isSettled || readPresentState(repositoryPath)?.text === state.text
  const { objectFormat } = known
  return isSame ? { state, objectFormat, references, files } : undefined
}
