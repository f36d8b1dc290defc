/** Fetches that the clients of a repository repeat: after a push, they will send the like again. */

import { LRUCache } from 'lru-cache'
import type { Wanted } from './answer-names.js'
import { type FetchRequest, WANTS_MAX } from './normal-fetch.js'
import { branchTips } from './recent-histories.js'
import type { ReferenceList } from './reference-list.js'
import { isShallowUpdate } from './shallow-updates.js'
import { argumentsOf, type ExpectedForm, isSharable, withObjects } from './shared-bases.js'

/** Number of clients from which on a tip is followed, and a form of fetch is expected. */
export const CLIENTS_MIN = 2

/** Share of the last pushed tips that must be followed so that clients are expected for others. */
const FOLLOWED_MIN = 0.5

/** Share of the counts of forms that remains after each push to a branch that is followed. */
export const REMAINING = 0.75

/** Maximum size of an answer that is made before it is requested. */
export const ANSWER_BYTES_MAX = 16_777_216

/**
 * The same for clones of all branches and tags, for which git packs only the objects of the push:
 * the rest is in the answer to an earlier clone.
 */
const WHOLE_BYTES_MAX = 67_108_864

/** Maximum number of forms that are expected after one push. */
const EXPECTED_MAX = 8

const REPOSITORIES_MAX = 500
const TIPS_MAX = 32
const FORMS_MAX = 16
const PUSHES_MAX = 8

/** Fetches that are equal but for the tip and the client's own commits. */
interface Form {
  /** Example, with at most one commit of a client. */
  readonly request: FetchRequest
  /** True if the clients want all branches and tags. */
  readonly isWhole: boolean
  count: number
  /** True if an answer was too long to be made in advance. */
  isLong: boolean
}

/** Counted fetches of one repository, and its pushes. */
interface Counts {
  /** Forms by their text. */
  readonly forms: LRUCache<string, Form>
  /** Number of fetches of each tip. */
  readonly tips: LRUCache<string, number>
  /** The last pushed tips. */
  readonly pushed: LRUCache<string, true>
  /** Tips of branches at the last push, or at the first fetch. */
  branches: ReadonlySet<string>
}

/** A fetch that was answered. */
export interface AnsweredFetch {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  readonly request: FetchRequest
  readonly references: ReferenceList
  /** Length of the answer; absent if it is not known. */
  readonly bytes: number | undefined
  /** False if another client, perhaps of another process, has requested the answer. */
  readonly isNew: boolean
}

/** A fetch that is expected, and how its answer is written; see `Wanted`. */
export interface ExpectedFetch extends Pick<Wanted, 'request' | 'write' | 'writeSmall'> {
  /** Maximum length of the answer; by default ANSWER_BYTES_MAX. */
  readonly bytesMax?: number
  /** Records the length of the answer, or any length beyond the maximum. */
  readonly noteLength?: (bytes: number) => void
}

/** Expected fetches that depend on more than the refs. */
interface Expectations {
  readonly shared: (form: ExpectedForm) => AsyncIterable<ExpectedFetch>
  readonly checkouts: (tips: readonly string[]) => AsyncIterable<ExpectedFetch>
}

/** The fetches that the clients of one process have sent. */
export class RepeatedFetches {
  readonly #repositories = new LRUCache<string, Counts>({ max: REPOSITORIES_MAX })
  readonly #forms = new WeakMap<FetchRequest, string>()

  /** Counts a fetch that was answered. */
  note({ repositoryPath, request, references, isNew, bytes }: AnsweredFetch): void {
    const text = this.#formOf(request)
    const isWhole = text !== '' && isWholeClone(request, references)
    const isExpectable = isWhole || request.wants.length === 1
    if (text === '' || !isExpectable || isTooLong(bytes, bytesMaxOf({ isWhole }))) return
    const { forms, tips, pushed } = entryOf(this.#repositories, repositoryPath, () => ({
      forms: new LRUCache<string, Form>({ max: FORMS_MAX }),
      tips: new LRUCache<string, number>({ max: TIPS_MAX }),
      pushed: new LRUCache<string, true>({ max: PUSHES_MAX }),
      branches: new Set(branchTips(references)),
    }))
    const start = isNew ? 0 : 1
    const form = entryOf(forms, `${isWhole} ${text}`, () => ({
      request: example(request),
      isWhole,
      count: start,
      isLong: false,
    }))
    form.count += 1
    if (bytes !== undefined) form.isLong = false
    const wanted = isWhole ? request.wants.filter((oid) => pushed.has(oid)) : request.wants
    for (const oid of wanted) tips.set(oid, (tips.get(oid) ?? start) + 1)
  }

  /** Returns one of the counted fetches of a repository. */
  any(repositoryPath: string): FetchRequest | undefined {
    const [form] = this.#repositories.get(repositoryPath)?.forms.values() ?? []
    return form?.request
  }

  /**
   * Yields the fetches to expect after a push, the most frequent first: if clients have fetched a
   * tip that is gone now, or most of the tips that were pushed lately. `shared` yields the expected
   * fetches of a form with commits, and `checkouts` those that follow the clones of new tips.
   */
  async *expected(
    repositoryPath: string,
    references: ReferenceList,
    { shared, checkouts }: Expectations,
  ): AsyncGenerator<ExpectedFetch> {
    const counts = this.#repositories.get(repositoryPath)
    if (counts === undefined) return
    const former = [...counts.tips.keys()]
    const pushed = takeFollowed(counts, branchTips(references))
    if (pushed.length === 0) return
    const expected = takeFrequent(counts).flatMap((form) =>
      form.isWhole
        ? [{ form, wants: allTips(references) }]
        : pushed.map((tip) => ({ form, wants: [tip] })),
    )
    for (const { form, wants } of expected.slice(0, EXPECTED_MAX)) {
      const [tip = ''] = wants
      const objects = wants.map((oid) => `want ${oid}`)
      if (hasCommits(form.request)) yield* shared({ form: form.request, tip, former })
      else {
        const bytesMax = bytesMaxOf(form)
        const noteLength = noteIn(form, bytesMax)
        yield { request: withObjects(form.request, objects), bytesMax, noteLength }
      }
    }
    yield* checkouts(pushed)
  }

  /** Returns the text that repeated fetches have in common; empty for those that do not count. */
  #formOf(request: FetchRequest): string {
    const known = this.#forms.get(request)
    if (known !== undefined) return known
    const isCounted =
      request.version === 2 && (isSharable(request) || isShallowUpdate(request) || isClone(request))
    const form = isCounted ? `${hasCommits(request)} ${argumentsOf(request).join('\n')}` : ''
    this.#forms.set(request, form)
    return form
  }
}

/** True if an answer is known to be too long to be made in advance. */
export function isTooLong(bytes: number | undefined, bytesMax = ANSWER_BYTES_MAX): boolean {
  return bytes !== undefined && bytes > bytesMax
}

function bytesMaxOf({ isWhole }: Pick<Form, 'isWhole'>): number {
  return isWhole ? WHOLE_BYTES_MAX : ANSWER_BYTES_MAX
}

/** Returns a function that marks a form whose answer is too long. */
export function noteIn(
  form: { isLong: boolean },
  bytesMax = ANSWER_BYTES_MAX,
): (bytes: number) => void {
  return (bytes) => {
    if (isTooLong(bytes, bytesMax)) form.isLong = true
  }
}

/** Returns a short fetch of the same form. */
function example(request: FetchRequest): FetchRequest {
  const [oid = ''] = request.wants
  const objects = hasCommits(request) ? [`want ${oid}`, `have ${oid}`] : [`want ${oid}`]
  return withObjects(request, objects)
}

/** Returns the pushed tips if clients are expected for them, and takes note of the push. */
function takeFollowed(counts: Counts, branches: readonly string[]): readonly string[] {
  const { tips, pushed } = counts
  const isFollowed = (oid: string) => (tips.get(oid) ?? 0) >= CLIENTS_MIN
  const present = new Set(branches)
  const hasMoved = [...counts.branches].some((oid) => isFollowed(oid) && !present.has(oid))
  const former = [...pushed.keys()]
  const followed = former.filter(isFollowed)
  const fresh = branches.filter((oid) => !counts.branches.has(oid))
  counts.branches = present
  for (const oid of fresh) pushed.set(oid, true)
  const isUsual = former.length > 0 && followed.length >= FOLLOWED_MIN * former.length
  return hasMoved || isUsual ? fresh : []
}

/** Returns the frequent forms, and lowers all counts: forms without clients are forgotten. */
function takeFrequent({ forms }: Counts): readonly Form[] {
  const frequent = [...forms.values()]
    .filter(({ count, isLong }) => count >= CLIENTS_MIN && !isLong)
    .toSorted((one, other) => other.count - one.count)
  for (const form of forms.values()) form.count *= REMAINING
  return frequent
}

/** True for a clone of all branches and tags. */
function isWholeClone(request: FetchRequest, references: ReferenceList): boolean {
  if (request.wants.length === 1 || !isClone(request)) return false
  const tips = allTips(references)
  return tips.length === request.wants.length && request.wants.every((oid, at) => oid === tips[at])
}

const wholes = new WeakMap<ReferenceList, readonly string[]>()

/** Returns what a clone wants: the targets of all branches and tags, sorted. */
function allTips(references: ReferenceList): readonly string[] {
  const known = wholes.get(references)
  if (known !== undefined) return known
  const tips = references.targetsBelow(['refs/heads/', 'refs/tags/'], WANTS_MAX).toSorted()
  wholes.set(references, tips)
  return tips
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
