/** Verdicts about wanted objects that are not tips: commits are sent only if a ref reaches them. */

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Reachability, ReachabilityQuestion } from '../../cgi/objects/reachability.js'
import { isFailure } from '../../conf/failures.js'
import type { RecentHistories } from './recent-histories.js'
import type { ReferenceList } from './reference-list.js'
import type { TipFiles } from './tip-files.js'

/** Maximum number of verdicts for one list of refs. */
const VERDICTS_MAX = 2_000

/** Wanted objects of a fetch, and the refs of the repository. */
export interface WantsQuestion {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  readonly wants: readonly string[]
  readonly references: ReferenceList
  /** Key of the client that a git process is counted for; see `auth/client`. */
  readonly client: string
}

/** Runs git to check if each of these objects is reachable from a tip. */
export type AskReachability = (
  asked: Pick<WantsQuestion, 'repositoryPath' | 'client'>,
  question: ReachabilityQuestion,
) => Promise<Reachability>

/** Objects in memory of which it is known that branches reach them. */
interface KnownObjects {
  readonly histories: Pick<RecentHistories, 'reached'>
  readonly files: Pick<TipFiles, 'haveAll'>
}

/** The verdicts of one process. Those of a list of refs end with it. */
export class ReachableWants {
  readonly #ask: AskReachability
  readonly #known: KnownObjects
  readonly #verdicts = new WeakMap<ReferenceList, LRUCache<string, Promise<Reachability>>>()

  constructor(ask: AskReachability, known: KnownObjects) {
    this.#ask = ask
    this.#known = known
  }

  /**
   * Returns the verdict about the wants that are not tips. Runs git once for each set of them,
   * unless what is in memory shows that branches reach them.
   */
  check(question: WantsQuestion): Promise<Reachability> {
    const { repositoryPath, references, wants } = question
    const oids = references.withoutTips(wants)
    const { histories, files } = this.#known
    const reached = histories.reached(repositoryPath, references)
    const isKnown =
      oids.every((oid) => reached.has(oid)) || files.haveAll(repositoryPath, references, oids)
    if (isKnown) return Promise.resolve({ kind: 'reachable' })
    const verdicts = this.#verdictsOf(references)
    // A partial clone wants thousands of files.
    const key = createHash('sha256').update(oids.join()).digest('base64')
    const known = verdicts.get(key)
    if (known !== undefined) return known.catch((error: unknown) => this.#again(question, error))
    const verdict = this.#ask(question, { oids, tips: references.oids })
    verdicts.set(key, verdict)
    verdict.catch(() => verdicts.delete(key))
    return verdict
  }

  /** Checks again if the client that git was to run for is at its limit. */
  #again(question: WantsQuestion, error: unknown): Promise<Reachability> {
    if (isFailure(error, 'throttled')) return this.check(question)
    throw error
  }

  #verdictsOf(references: ReferenceList): LRUCache<string, Promise<Reachability>> {
    const known = this.#verdicts.get(references)
    if (known !== undefined) return known
    const verdicts = new LRUCache<string, Promise<Reachability>>({ max: VERDICTS_MAX })
    this.#verdicts.set(references, verdicts)
    return verdicts
  }
}
