/** Answers that clients with different commits share, now and after the next push. */

import { LRUCache } from 'lru-cache'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import type { Wanted } from './answer-names.js'
import type { HistoryOwner } from './recent-histories.js'
import type { ReferenceList } from './reference-list.js'
import type { ExpectedFetch } from './repeated-fetches.js'
import { isShallowUpdate, type ShallowUpdates, UPDATE_BYTES_MAX } from './shallow-updates.js'
import {
  type ExpectedForm,
  isSharable,
  SHARED_BYTES_MAX,
  type SharedBases,
  type SharedFetch,
} from './shared-bases.js'
import { shortAnswer, type WarmAnswer, withBody } from './warm-answer.js'

/** Maximum number of fetches that are known to have an answer of their own. */
const EXACT_MAX = 1_000

/** A fetch, and the repository and client that it is for. */
interface Asked {
  readonly owner: HistoryOwner
  readonly wanted: Wanted
  /** Cache key of the fetch. */
  readonly name: string
  /** Returns the answer to exactly one fetch, from the cache or from git. */
  readonly fetchExactly: (wanted: Wanted) => Awaitable<WarmAnswer | undefined>
}

export class SharedAnswers {
  readonly #bases: SharedBases
  readonly #updates: ShallowUpdates
  /** Cache keys of fetches by clients with commits that had no shared answer. */
  readonly #exact = new LRUCache<string, true>({ max: EXACT_MAX })

  constructor(bases: SharedBases, updates: ShallowUpdates) {
    this.#bases = bases
    this.#updates = updates
  }

  /** Returns a shared answer, or the client's own one. */
  answer(asked: Asked): Awaitable<WarmAnswer | undefined> {
    const { owner, wanted, name, fetchExactly } = asked
    const { request, references } = wanted
    if (request.text.includes('\ndeepen ')) this.#updates.note(owner, request.wants)
    if (this.#exact.has(name)) return fetchExactly(wanted)
    if (isShallowUpdate(request)) return this.#answerUpdate(asked)
    if (!isSharable(request)) return fetchExactly(wanted)
    return after(this.#bases.find(owner, request, references), (shared) =>
      shared === undefined ? this.#answerExactly(asked) : this.#answerForm(asked, shared),
    )
  }

  #answerExactly({ wanted, name, fetchExactly }: Asked): Awaitable<WarmAnswer | undefined> {
    this.#exact.set(name, true)
    return fetchExactly(wanted)
  }

  #answerForm(asked: Asked, shared: SharedFetch): Awaitable<WarmAnswer | undefined> {
    const { wanted, fetchExactly } = asked
    const form = shared.requests.find((request) => !this.#bases.isLong(request))
    if (form === undefined) return this.#answerExactly(asked)
    return after(
      fetchExactly({ ...wanted, request: form }),
      (answer) =>
        answer &&
        after(shortAnswer(answer, SHARED_BYTES_MAX), (short) => {
          if (short !== undefined) return withBody(short, Buffer.concat([shared.head, short.body]))
          this.#bases.noteLong(form)
          return this.#answerForm(asked, shared)
        }),
    )
  }

  #answerUpdate(asked: Asked): Awaitable<WarmAnswer | undefined> {
    const { owner, wanted, fetchExactly } = asked
    return after(this.#updates.find(owner, wanted.request, wanted.references), async (found) => {
      const answer =
        found &&
        (await this.#updates.answer(found, (shared) =>
          after(
            fetchExactly({ ...wanted, ...shared }),
            (whole) => whole && shortAnswer(whole, UPDATE_BYTES_MAX),
          ),
        ))
      return answer ?? this.#answerExactly(asked)
    })
  }

  /** Yields the fetches of a form that are expected for a new tip. */
  async *expected(
    owner: HistoryOwner,
    form: ExpectedForm,
    references: ReferenceList,
  ): AsyncGenerator<ExpectedFetch> {
    if (isShallowUpdate(form.form)) {
      yield* this.#updates.expected(owner, form, references)
      return
    }
    for await (const request of this.#bases.expected(owner, form, references)) {
      const noteLength = (bytes: number) => {
        if (bytes > SHARED_BYTES_MAX) this.#bases.noteLong(request)
      }
      yield { request, noteLength }
    }
  }
}
