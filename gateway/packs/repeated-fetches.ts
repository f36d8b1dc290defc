/** Fetches that the clients of a repository repeat: after a push, they will send the like again. */

import { LRUCache } from 'lru-cache'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import type { FetchRequest } from './normal-fetch.js'
import type { ReferenceList } from './reference-list.js'
import { argumentsOf, expectedFetch, isSharable, type Line, withObjects } from './shared-bases.js'

/** Number of clients from which on a tip is followed, and a form of fetch is expected. */
const CLIENTS_MIN = 2

/** Share of the counts of forms that remains after each push to a branch that is followed. */
const REMAINING = 0.75

/** Maximum size of an answer that is made before it is requested. */
const ANSWER_BYTES_MAX = 16_777_216

/** Maximum number of answers to make after one push. */
const ANSWERS_MAX = 4

const REPOSITORIES_MAX = 500
const TIPS_MAX = 32
const FORMS_MAX = 16

/** Fetches that are equal but for the tip and the client's own commits. */
interface Form {
  /** Example, with at most one commit of a client. */
  readonly request: FetchRequest
  count: number
}

interface Tip {
  count: number
  /** Branch at the tip; known when the tip is followed. */
  branch: string | undefined
}

/** Counted fetches of one repository: forms by their text, and tips by their ids. */
interface Counts {
  readonly forms: LRUCache<string, Form>
  readonly tips: LRUCache<string, Tip>
}

/** The fetches that the clients of one process have sent. */
export class RepeatedFetches {
  readonly #repositories = new LRUCache<string, Counts>({ max: REPOSITORIES_MAX })
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
    const [oid = '', ...others] = request.wants
    const text = this.#formOf(request)
    if (others.length > 0 || text === '' || bytes > ANSWER_BYTES_MAX) return
    const { forms, tips } = entryOf(this.#repositories, repositoryPath, () => ({
      forms: new LRUCache<string, Form>({ max: FORMS_MAX }),
      tips: new LRUCache<string, Tip>({ max: TIPS_MAX }),
    }))
    const start = isNew ? 0 : 1
    const form = entryOf(forms, text, () => ({ request: example(request, oid), count: start }))
    const tip = entryOf(tips, oid, (): Tip => ({ count: start, branch: undefined }))
    form.count += 1
    tip.count += 1
    if (tip.count >= CLIENTS_MIN) tip.branch ??= references.branchAt(oid)
  }

  /** Returns one of the counted fetches of a repository. */
  any(repositoryPath: string): FetchRequest | undefined {
    const [form] = this.#repositories.get(repositoryPath)?.forms.values() ?? []
    return form?.request
  }

  /**
   * Yields the fetches to expect, the most frequent first, for branches that are followed and have
   * moved since. `lineOf` returns the line of a tip.
   */
  async *expected(
    repositoryPath: string,
    references: ReferenceList,
    lineOf: (tip: string) => Awaitable<Line>,
  ): AsyncGenerator<FetchRequest> {
    const counts = this.#repositories.get(repositoryPath)
    if (counts === undefined) return
    const moved = takeMoved(counts, references)
    const forms = moved.length === 0 ? [] : takeFrequent(counts)
    let left = ANSWERS_MAX
    for (const { from, to } of moved) {
      const line = forms.some(hasCommits) ? await lineOf(to) : undefined
      for (const form of forms) {
        const next =
          line !== undefined && hasCommits(form)
            ? expectedFetch(form, line, from)
            : withObjects(form, [`want ${to}`])
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

/** Returns a short fetch of the same form. */
function example(request: FetchRequest, oid: string): FetchRequest {
  const objects = hasCommits(request) ? [`want ${oid}`, `have ${oid}`] : [`want ${oid}`]
  return withObjects(request, objects) ?? request
}

/** Removes and returns the tips that were followed and are not the tips of their branches now. */
function takeMoved({ tips }: Counts, references: ReferenceList) {
  const moved: { readonly from: string; readonly to: string }[] = []
  for (const [from, { branch }] of [...tips.entries()]) {
    const to = branch === undefined ? undefined : references.targetOf(branch)
    if (to === undefined || to === from) continue
    tips.delete(from)
    moved.push({ from, to })
  }
  return moved
}

/** Returns the frequent forms, and lowers all counts: forms without clients are forgotten. */
function takeFrequent({ forms }: Counts): readonly FetchRequest[] {
  const frequent = [...forms.values()]
    .filter(({ count }) => count >= CLIENTS_MIN)
    .toSorted((one, other) => other.count - one.count)
    .map(({ request }) => request)
  for (const form of forms.values()) form.count *= REMAINING
  return frequent
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
