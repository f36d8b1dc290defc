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
import { ReferenceList, referenceListRequest } from './reference-list.js'

/** A request for the refs of a repository in one state. */
export interface ReferenceListRequest {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** On whose behalf git is asked; see `auth/client`. */
  readonly client: string
  readonly state: RepositoryState
  readonly objectFormat: ObjectFormat
}

/** Asks git, and gives its whole answer; undefined for one beyond the bound. */
export type AskReferences = (
  listRequest: Pick<ReferenceListRequest, 'repositoryPath' | 'client'>,
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
  readonly #inFlight = new Map<string, Promise<ReferenceList | undefined>>()
  /** Entry that is last in `#entries`. */
  #newest: Entry | undefined
  #bytes = 0

  constructor(ask: AskReferences) {
    this.#ask = ask
  }

  /** Returns the cached list of a settled state, if any. */
  known(listRequest: Omit<ReferenceListRequest, 'client'>): ReferenceList | undefined {
    const { repositoryPath, state } = listRequest
    const entry = this.#find(listRequest)
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
  followed(listRequest: Omit<ReferenceListRequest, 'client'>): ReferenceList | undefined {
    const entry = this.#find(listRequest)
    return entry && deriveEntry(entry, listRequest)?.references
  }

  /**
   * Those of a settled state. Undefined when there are too many, when git does not tell, or when
   * they change meanwhile.
   */
  async get(listRequest: ReferenceListRequest): Promise<KnownReferences | undefined> {
    const references = this.known(listRequest)
    if (references !== undefined) return { references, isKnown: true }
    const { repositoryPath, objectFormat, state } = listRequest
    const entry = this.#find(listRequest)
    const moved = entry && deriveEntry(entry, listRequest)
    if (moved !== undefined) {
      this.#remember(repositoryPath, moved)
      return { references: moved.references, isKnown: true }
    }
    const key = `${repositoryPath} ${objectFormat} ${state.text}`
    const inFlight = this.#inFlight.get(key)
    try {
      const references = await (inFlight ?? this.#start(key, listRequest))
      return references === undefined ? undefined : { references, isKnown: false }
    } catch (error) {
      // The client that git was to run for is at its limit; this client has its own limit.
      if (inFlight !== undefined && isFailure(error, 'throttled')) return this.get(listRequest)
      throw error
    }
  }

  #find({
    repositoryPath,
    objectFormat,
  }: Pick<ReferenceListRequest, 'repositoryPath' | 'objectFormat'>): Entry | undefined {
    const entry = this.#entries.get(repositoryPath)
    return entry?.objectFormat === objectFormat ? entry : undefined
  }

  #start(key: string, listRequest: ReferenceListRequest): Promise<ReferenceList | undefined> {
    const { repositoryPath, state, objectFormat } = listRequest
    const ask = async () => {
      const body = referenceListRequest(objectFormat)
      const answer = await this.#ask(listRequest, body, LIST_BYTES_MAX)
      const references = answer === undefined ? undefined : ReferenceList.parse(answer)
      const files = readReferenceFiles(repositoryPath)
      const isSame = readPresentState(repositoryPath)?.text === state.text
      if (answer === undefined || references === undefined || !isSame) return undefined
      this.#remember(repositoryPath, { state, objectFormat, references, files })
      return references
    }
    const inFlight = ask().finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, inFlight)
    return inFlight
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
function deriveEntry(
  known: Entry,
  { repositoryPath, state }: Omit<ReferenceListRequest, 'client'>,
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
