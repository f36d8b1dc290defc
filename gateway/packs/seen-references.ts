/** The refs that a request is answered from, with the repository state in which they were read. */

import {
  type RepositoryState,
  readSettledState,
  readStateOfTick,
} from '../../cgi/repository/repository-state.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { dependsOnAll, type Seen } from './answer-names.js'
import type { ObjectFormat } from './normal-fetch.js'
import type { NormalRequest } from './normal-request.js'
import type { ReferenceListRequest, ReferenceLists } from './reference-lists.js'

export interface SeenReferences extends Seen {
  /** True if the refs were known without running git for this request. */
  readonly isKnown: boolean
}

/** A repository, and the client that a git process is counted for; see `auth/client`. */
export interface ReferencesQuestion {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  readonly client: () => string
}

export interface PresentQuestion extends ReferencesQuestion {
  /** State that was just read; by default it is read. */
  readonly state?: RepositoryState | undefined
  /** True if the caller has another way that is faster than to wait for a settled state. */
  readonly isUrgent?: boolean
}

/**
 * Returns the refs for a request. After a recent change, it derives them from the last list instead
 * of waiting for a settled state. It cannot do so if the answer depends on other refs, because then
 * the whole state is part of the cache key.
 */
export function referencesFor(
  lists: ReferenceLists,
  { repositoryPath, client }: ReferencesQuestion,
  { request, present }: { readonly request: NormalRequest; readonly present: RepositoryState },
): Awaitable<SeenReferences | undefined> {
  const asked = { repositoryPath, objectFormat: request.objectFormat, state: present }
  const isFollowed = !present.isSettled && !dependsOnAll(request, present)
  const known = present.isSettled ? lists.known(asked) : undefined
  const references = isFollowed ? lists.followed(asked) : known
  if (references !== undefined) return { state: present, references, isKnown: true }
  return getReferences(lists, { ...asked, client: client() })
}

/**
 * Returns the present refs. Runs git at most once for each state. If the refs changed recently and
 * the last list does not show how, waits for a settled state, or returns undefined if the caller
 * does not wait. Returns undefined also if the list is too long, or if the repository has no state.
 * Throws like `ProcessQueue.enter`.
 */
export function presentReferences(
  lists: ReferenceLists,
  question: PresentQuestion,
  objectFormat: ObjectFormat,
): Awaitable<Seen | undefined> {
  const { repositoryPath, client, isUrgent = false } = question
  const { state = readStateOfTick(repositoryPath) } = question
  if (state === undefined) return undefined
  const asked = { repositoryPath, objectFormat, state }
  const references = state.isSettled ? lists.known(asked) : lists.followed(asked)
  if (references !== undefined) return { state, references }
  if (isUrgent && !state.isSettled) return undefined
  return getReferences(lists, { ...asked, client: client() })
}

async function getReferences(
  lists: ReferenceLists,
  asked: ReferenceListRequest,
): Promise<SeenReferences | undefined> {
  const { repositoryPath, state: present } = asked
  const state = present.isSettled ? present : await readSettledState(repositoryPath)
  const list = state && (await lists.get({ ...asked, state }))
  return list && { state, ...list }
}
