/** Fetches of a branch that several clients have sent: after a push, others will send the like. */

import { LRUCache } from 'lru-cache'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import type { FetchRequest } from './normal-fetch.js'
import type { ReferenceList } from './reference-list.js'
import { argumentsOf, fetchFrom, isSharable, type Line, withObjects } from './shared-bases.js'

/** Number of clients with a like fetch of a tip from which on the next tip is prepared for it. */
const CLIENTS_MIN = 2

/** Maximum size of an answer that is made before it is requested. */
const ANSWER_BYTES_MAX = 16_777_216

/** Maximum number of answers to make after one push. */
const ANSWERS_MAX = 4

const REPOSITORIES_MAX = 500
const TIPS_MAX = 32
const FORMS_MAX = 8

/** Fetches of one tip that are equal but for the client's own commits. */
interface Counted {
  readonly request: FetchRequest
  count: number
  /** Branch at the tip; known from the client on that reaches CLIENTS_MIN. */
  branch: string | undefined
}

/** Counts of a form of fetch, by the form; the tips of a repository have one such map each. */
type Forms = LRUCache<string, Counted>

/** The fetches that the clients of one process have sent. */
export class RepeatedFetches {
  readonly #repositories = new LRUCache<string, LRUCache<string, Forms>>({ max: REPOSITORIES_MAX })
  readonly #forms = new WeakMap<FetchRequest, string>()

  /**
   * Counts a fetch that was answered. `bytes` is absent if the answer's length is not known.
   * `isNew` is false if another client, perhaps of another process, has requested the answer.
   */
  note(
    repositoryPath: string,
    request: FetchRequest,
    {
      references,
      bytes = 0,
      isNew,
    }: {
      readonly references: ReferenceList
      readonly bytes: number | undefined
      readonly isNew: boolean
    },
  ): void {
    const [tip = '', ...others] = request.wants
    const form = this.#formOf(request)
    if (others.length > 0 || form === '' || bytes > ANSWER_BYTES_MAX) return
    const tips = entryOf(this.#repositories, repositoryPath, () => new LRUCache({ max: TIPS_MAX }))
    const forms: Forms = entryOf(tips, tip, () => new LRUCache({ max: FORMS_MAX }))
    const counted = entryOf(forms, form, () => ({ request, count: 0, branch: undefined }))
    counted.count += counted.count === 0 && !isNew ? 2 : 1
    if (counted.count >= CLIENTS_MIN) counted.branch ??= references.branchAt(tip)
  }

  /** Returns one of the counted fetches of a repository. */
  any(repositoryPath: string): FetchRequest | undefined {
    const [forms] = this.#repositories.get(repositoryPath)?.values() ?? []
    const [counted] = forms?.values() ?? []
    return counted?.request
  }

  /**
   * Yields the fetches to expect, the most frequent of each branch first, for branches that have
   * another tip than when their fetches were counted. `lineOf` returns the line of a tip.
   */
  async *expected(
    repositoryPath: string,
    references: ReferenceList,
    lineOf: (tip: string) => Awaitable<Line>,
  ): AsyncGenerator<FetchRequest> {
    let left = ANSWERS_MAX
    const tips = this.#repositories.get(repositoryPath)
    // A list, because fetches are counted in the meantime.
    for (const [from, forms] of [...(tips?.entries() ?? [])]) {
      const frequent = [...forms.values()].filter(({ branch }) => branch !== undefined)
      for (const { request, branch } of frequent.toSorted((a, b) => b.count - a.count)) {
        const to = references.targetOf(branch ?? '')
        if (to === undefined || to === from) continue
        tips?.delete(from)
        const next = hasCommits(request)
          ? nextIncrement(request, from, await lineOf(to))
          : withObjects(request, [`want ${to}`])
        if (next === undefined) continue
        yield next
        left -= 1
        if (left === 0) return
      }
    }
  }

  /** Returns the text that repeated fetches have in common; empty for those that do not count. */
  #formOf(request: FetchRequest): string {
    const known = this.#forms.get(request)
    if (known !== undefined) return known
    const isCounted = request.version === 2 && (isSharable(request) || isClone(request))
    const form = isCounted ? `${hasCommits(request)} ${argumentsOf(request).join('\n')}` : ''
    this.#forms.set(request, form)
    return form
  }
}

/** Returns the value of a key, after creating it if it is missing. */
function entryOf<T extends object>(map: LRUCache<string, T>, key: string, create: () => T): T {
  const known = map.get(key)
  if (known !== undefined) return known
  const created = create()
  map.set(key, created)
  return created
}

function hasCommits({ text }: FetchRequest): boolean {
  return text.includes('\nhave ')
}

function isClone({ text }: FetchRequest): boolean {
  return !/\n(?:have|shallow) /.test(text)
}

/** Returns the fetch of clients that have the former tip, if it is in the line of the new one. */
function nextIncrement(
  request: FetchRequest,
  former: string,
  line: Line,
): FetchRequest | undefined {
  const position = line.get(former)
  return position === undefined ? undefined : fetchFrom(request, line, position)
}
