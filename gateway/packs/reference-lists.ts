/** A cache of ref lists, which runs git at most once for each state of a repository. */

import { hasOwnObjects } from '../../cgi/objects/object-presence.js'
import {
  changedReferences,
  type ReferenceFiles,
  readPackedFile,
  readReferenceFiles,
  readShortPackedFile,
  writtenBranches,
} from '../../cgi/refs/reference-files.js'
import {
  hidesReferences,
  type RepositoryState,
  readPresentState,
} from '../../cgi/repository/repository-state.js'
import { isFailure } from '../../conf/failures.js'
import type { ChangedTarget } from './changed-lines.js'
import type { ObjectFormat } from './normal-fetch.js'
import { ReferenceList, referenceListRequest, SHORT_BYTES_MAX } from './reference-list.js'
import { readStoredList } from './stored-list.js'

/** A request for the refs of a repository in one state. */
export interface ReferenceListRequest {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  /** Key of the client that a git process is counted for; see `auth/client`. */
  readonly client: string
  readonly state: RepositoryState
  readonly objectFormat: ObjectFormat
}

/**
 * Runs `git upload-pack` with this request body. Returns its whole answer, or `too long` if it is
 * longer than `bytesMax`, or undefined if git rejects the request.
 */
export type AskReferences = (
  listRequest: Pick<ReferenceListRequest, 'repositoryPath' | 'client'>,
  body: Buffer,
  bytesMax: number,
) => Promise<Buffer | 'too long' | undefined>

export interface KnownReferences {
  readonly references: ReferenceList
  /** True if git was not run for this request. */
  readonly isKnown: boolean
}

/** Time during which git lists the refs of a repository that are too many to be cached. */
const TOO_LONG_MS = 60_000
const TOO_LONG_MAX = 10_000

interface Entry {
  /** Text of the settled state with this list; undefined if only `files` have it. */
  readonly stateText: string | undefined
  readonly settingsText: string
  readonly objectFormat: ObjectFormat
  readonly references: ReferenceList
  /** Ref files with this list; undefined if later moves of branches cannot be seen in them. */
  readonly files: ReferenceFiles | undefined
}

/** The cached ref lists of one process. */
export class ReferenceLists {
  readonly #ask: AskReferences
  /** Entries by repository path, least recently used first. A repository has one object format. */
  readonly #entries = new Map<string, Entry>()
  readonly #inFlight = new Map<string, Promise<KnownReferences | undefined>>()
  /** Entry that is last in `#entries`. */
  #newest: Entry | undefined
  #bytes = 0
  readonly #bytesMax: number
  /** Times until which repositories are left to git, by path: listing refs twice costs more. */
  readonly #tooLongUntilMs = new Map<string, number>()

  /**
   * Creates an empty cache. `bytesMax` bounds the bytes of all lists, with the answers cached with
   * them, and the bytes of one list as git sends it.
   */
  constructor(ask: AskReferences, bytesMax: number) {
    this.#ask = ask
    this.#bytesMax = bytesMax
  }

  /** Returns the cached list of a settled state, if any. */
  known(listRequest: Omit<ReferenceListRequest, 'client'>): ReferenceList | undefined {
    const { repositoryPath, state } = listRequest
    const entry = this.#find(listRequest)
    if (entry?.stateText !== state.text) return undefined
    if (this.#newest !== entry) {
      this.#entries.delete(repositoryPath)
      this.#entries.set(repositoryPath, entry)
      this.#newest = entry
    }
    return entry.references
  }

  /**
   * Derives the present list from the cached list of an earlier state and from the repository's ref
   * files, without running git. Returns undefined if git must list the refs.
   */
  followed(listRequest: Omit<ReferenceListRequest, 'client'>): ReferenceList | undefined {
    const entry = this.#find(listRequest)
    const changes = entry && changesSince(entry, listRequest)
    const derived = changes && deriveEntry(changes, listRequest)
    if (derived === undefined || derived.references === entry?.references) {
      return derived?.references
    }
    // The next request then derives its list from this one. It compares the ids in the files, so
    // the list need not belong to one state.
    if (changes?.files.isPackedSettled) this.#remember(listRequest.repositoryPath, derived)
    return derived.references
  }

  /**
   * Returns the list of a settled state, from the cache or from git. Returns undefined if the list
   * is too long or was so within the last minute, if git rejects the request, or if the refs change
   * while git runs.
   */
  async get(listRequest: ReferenceListRequest): Promise<KnownReferences | undefined> {
    const references = this.known(listRequest)
    if (references !== undefined) return { references, isKnown: true }
    const { repositoryPath, objectFormat, state } = listRequest
    const entry = this.#find(listRequest)
    const changes = entry && changesSince(entry, listRequest)
    const derived = changes && deriveEntry(changes, listRequest)
    if (derived !== undefined) {
      this.#remember(repositoryPath, derived)
      return { references: derived.references, isKnown: true }
    }
    if (this.#isTooLong(listRequest)) return undefined
    const key = `${repositoryPath} ${objectFormat} ${state.text}`
    const inFlight = this.#inFlight.get(key)
    try {
      return await (inFlight ?? this.#start(key, listRequest, entry))
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

  #start(
    key: string,
    listRequest: ReferenceListRequest,
    known: Entry | undefined,
  ): Promise<KnownReferences | undefined> {
    const { repositoryPath, state, objectFormat } = listRequest
    const ask = async () => {
      const stored = await this.#readStored(listRequest)
      const followed =
        stored || known === undefined ? undefined : await this.#follow(known, listRequest)
      const references = stored ?? followed?.references ?? (await this.#askForAll(listRequest))
      if (references === undefined) return undefined
      const files = followed?.files ?? readReferenceFiles(repositoryPath)
      const isSame = readPresentState(repositoryPath)?.text === state.text
      if (!isSame) return undefined
      const { text: stateText, settingsText } = state
      const entry = { stateText, settingsText, objectFormat, references, files }
      this.#remember(repositoryPath, entry)
      return { references, isKnown: stored !== undefined }
    }
    const inFlight = ask().finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, inFlight)
    return inFlight
  }

  /** Lets git list only the refs that changed; undefined if it must list all. */
  async #follow(
    known: Entry,
    listRequest: ReferenceListRequest,
  ): Promise<Pick<Entry, 'files' | 'references'> | undefined> {
    const changes =
      changesSince(known, listRequest) ??
      (await changesWithPacked(known, listRequest, this.#bytesMax))
    if (changes === undefined) return undefined
    const { files, changed } = changes
    const derived = deriveEntry(changes, listRequest)
    const references =
      derived?.references ?? (await this.#askForChanged(listRequest, known, changed))
    return references && { files, references }
  }

  /** Reads a few refs from their files; undefined if git must list them. */
  async #readStored({
    repositoryPath,
    state,
    objectFormat,
  }: ReferenceListRequest): Promise<ReferenceList | undefined> {
    if (hidesReferences(state)) return undefined
    const references = await readStoredList(repositoryPath, objectFormat)
    return references && references.weightBytes <= this.#bytesMax ? references : undefined
  }

  async #askForAll(listRequest: ReferenceListRequest): Promise<ReferenceList | undefined> {
    const body = referenceListRequest(listRequest.objectFormat)
    const answer = await this.#ask(listRequest, body, this.#bytesMax)
    const references = answer instanceof Buffer ? await ReferenceList.parse(answer) : undefined
    const isTooLong = (references?.weightBytes ?? 0) > this.#bytesMax
    if (answer === 'too long' || isTooLong) this.#noteTooLong(listRequest)
    return isTooLong ? undefined : references
  }

  /** Lets git list the refs that changed, and returns the list with them. */
  async #askForChanged(
    listRequest: ReferenceListRequest,
    { references }: Entry,
    changed: Changes['changed'],
  ): Promise<ReferenceList | undefined> {
    const names = [...changed.keys()]
    if (names.length === 0) return references
    if (names.length > NAMES_MAX || !names.every((name) => IS_ASCII.test(name))) return undefined
    const body = referenceListRequest(listRequest.objectFormat, names)
    const answer = await this.#ask(listRequest, body, CHANGED_BYTES_MAX)
    const found = answer instanceof Buffer ? await ReferenceList.parse(answer) : undefined
    if (found === undefined) return undefined
    return references.withChanges(new Map(names.map((name) => [name, found.targetOf(name)])))
  }

  #isTooLong({ repositoryPath, objectFormat }: ReferenceListRequest): boolean {
    const untilMs = this.#tooLongUntilMs.get(`${repositoryPath} ${objectFormat}`)
    return untilMs !== undefined && Date.now() < untilMs
  }

  #noteTooLong({ repositoryPath, objectFormat }: ReferenceListRequest): void {
    if (this.#tooLongUntilMs.size >= TOO_LONG_MAX) this.#tooLongUntilMs.clear()
    this.#tooLongUntilMs.set(`${repositoryPath} ${objectFormat}`, Date.now() + TOO_LONG_MS)
  }

  #remember(repositoryPath: string, entry: Entry): void {
    this.#forget(repositoryPath)
    this.#entries.set(repositoryPath, entry)
    this.#newest = entry
    this.#bytes += entry.references.weightBytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#forget(oldest)
    }
  }

  #forget(repositoryPath: string): void {
    this.#bytes -= this.#entries.get(repositoryPath)?.references.weightBytes ?? 0
    this.#entries.delete(repositoryPath)
  }
}

/** Maximum number of changed refs that git lists by name, and the maximum length of its answer. */
const NAMES_MAX = 500
const CHANGED_BYTES_MAX = 1_048_576

/**
 * Maximum number of written branches whose commits are looked for: that blocks the event loop.
 * Upkeep packs loose refs from 32 on, and then none counts as written.
 */
const WRITTEN_MAX = 64

const IS_ASCII = /^[!-~]+$/

/** Changes of a repository since its refs were listed. */
interface Changes {
  readonly known: Entry
  readonly files: ReferenceFiles
  /** The new ids of the changed refs, by full name; see `changedReferences`. */
  readonly changed: ReadonlyMap<string, string | undefined>
}

/** Returns undefined if git must list all refs. */
function changesSince(
  known: Entry,
  { repositoryPath, state }: Omit<ReferenceListRequest, 'client'>,
): Changes | undefined {
  // Settings decide which refs git lists.
  if (known.files === undefined || known.settingsText !== state.settingsText) return undefined
  const files = readReferenceFiles(repositoryPath)
  if (files === undefined) return undefined
  const changed =
    changedReferences(known.files, files) ??
    (hidesReferences(state) ? undefined : shortChanges(known, files, repositoryPath))
  return changed && { known, files, changed }
}

/**
 * Returns the changes if a short `packed-refs` was written anew; see `changesWithPacked`. No ref
 * may be hidden: the list has no line of a hidden branch, but `HEAD` may name that branch.
 */
function shortChanges(
  { references, files: before }: Entry,
  { loose, headText }: ReferenceFiles,
  repositoryPath: string,
): Changes['changed'] | undefined {
  if (headText !== before?.headText) return undefined
  const packed = readShortPackedFile(repositoryPath, SHORT_BYTES_MAX)
  return packed && references.differencesNow({ packed, loose })
}

/**
 * Returns the changes if `packed-refs` was written anew: most of them are only where a ref is
 * stored. Reads the whole file, which takes a fraction of the time in which git lists all refs.
 * Returns undefined if git must list all refs.
 */
async function changesWithPacked(
  known: Entry,
  { repositoryPath, state }: Omit<ReferenceListRequest, 'client'>,
  bytesMax: number,
): Promise<Changes | undefined> {
  if (known.settingsText !== state.settingsText) return undefined
  if (hidesReferences(state)) return undefined
  // Like git, loose refs first: it packs a ref before it removes the loose one.
  const files = readReferenceFiles(repositoryPath)
  if (files === undefined || files.headText !== known.files?.headText) return undefined
  const packed = await readPackedFile(repositoryPath, bytesMax)
  if (packed === undefined) return undefined
  const changed = await known.references.differences({ packed, loose: files.loose })
  return changed && { known, files, changed }
}

/**
 * Derives the entry of a state from a known one if only branches were written in between, as by
 * most pushes. The first clone of a new commit then needs no git process to list the refs. Returns
 * undefined if git must list the refs that changed.
 */
function deriveEntry(
  { known, files, changed }: Changes,
  { repositoryPath, state }: Omit<ReferenceListRequest, 'client'>,
): Entry | undefined {
  const written = writtenBranches(changed)
  if (written === undefined || written.size > WRITTEN_MAX) return undefined
  // Git decides whether to list a branch whose commit is missing.
  if (!hasOwnObjects(repositoryPath, [...new Set(written.values())])) return undefined
  for (const name of written.keys()) {
    const isNew = known.references.targetOf(name) === undefined
    if (isNew && hidesReferences(state)) return undefined
  }
  const { objectFormat, settingsText } = known
  const references = withWritten(known.references, written)
  if (references === undefined) return undefined
  if (!state.isSettled) {
    // Git reads refs one after the other, too.
    return { stateText: undefined, settingsText, objectFormat, references, files }
  }
  const stateText = readPresentState(repositoryPath)?.text
  if (stateText !== state.text) return undefined
  return { stateText, settingsText, objectFormat, references, files }
}

function withWritten(
  list: ReferenceList,
  written: ReadonlyMap<string, string>,
): ReferenceList | undefined {
  if (written.size === 0) return list
  const targets = new Map<string, ChangedTarget>()
  for (const [name, oid] of written) targets.set(name, { oid, peeled: undefined })
  return list.withChanges(targets)
}
