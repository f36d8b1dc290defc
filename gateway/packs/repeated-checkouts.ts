/** Checkouts of partial clones that repeat: after a push, clients request the files of the tip. */

import { LRUCache } from 'lru-cache'
import type { FetchRequest } from './normal-fetch.js'
import type { HistoryOwner } from './recent-histories.js'
import {
  type AnsweredFetch,
  CLIENTS_MIN,
  type ExpectedFetch,
  isTooLong,
  noteIn,
  REMAINING,
} from './repeated-fetches.js'
import { withObjects } from './shared-bases.js'
import type { TipFiles } from './tip-files.js'

/** Minimum share of a tip's files that a checkout of all files wants before a push. */
const EQUAL_MIN = 0.75

/** Maximum number of wanted files in memory, of all repositories; each takes about 150 bytes. */
const WANTS_IN_MEMORY_MAX = 50_000

interface Checkout {
  readonly request: FetchRequest
  readonly count: number
  /** True if an answer was too long to be made in advance. */
  isLong: boolean
}

type AnsweredCheckout = Omit<AnsweredFetch, 'references'>

/** The last checkout of each repository that clients of one process have requested. */
export class RepeatedCheckouts {
  readonly #files: TipFiles
  readonly #checkouts = new LRUCache<string, Checkout>({
    maxSize: WANTS_IN_MEMORY_MAX,
    sizeCalculation: ({ request }) => request.wants.length,
  })

  constructor(files: TipFiles) {
    this.#files = files
  }

  /** Counts a fetch of objects that are not tips. */
  note({ repositoryPath, request, bytes, isNew }: AnsweredCheckout): void {
    const form = formOf(request)
    if (request.wants.length === 1 || /\n(?:have|shallow|deepen)/.test(form)) return
    if (isTooLong(bytes)) return
    const last = this.#checkouts.get(repositoryPath)
    const isSame = last !== undefined && formOf(last.request) === form
    const former = isSame ? last.count : isNew ? 0 : 1
    const isLong = isSame && last.isLong && bytes === undefined
    this.#checkouts.set(repositoryPath, { request, count: former + 1, isLong })
  }

  /** Yields the checkouts to expect of new tips: of all files, if the last one had nearly all. */
  async *expected(owner: HistoryOwner, tips: readonly string[]): AsyncGenerator<ExpectedFetch> {
    const { repositoryPath } = owner
    const last = this.#checkouts.get(repositoryPath)
    if (last === undefined) return
    const { request, count } = last
    const next = { ...last, count: count * REMAINING }
    this.#checkouts.set(repositoryPath, next)
    if (count < CLIENTS_MIN || last.isLong) return
    for (const tip of tips) {
      const files = await this.#files.read(owner, tip)
      if (files === undefined || !isNearly(request.wants, files)) continue
      const wants = [...files].map((oid) => `want ${oid}`)
      yield { request: withObjects(request, wants), noteLength: noteIn(next) }
    }
  }
}

function isNearly(wants: readonly string[], files: ReadonlySet<string>): boolean {
  const equal = wants.filter((oid) => files.has(oid)).length
  return equal >= EQUAL_MIN * Math.max(wants.length, files.size)
}

/** Returns the arguments after the wants, of which there may be thousands. */
function formOf({ text }: FetchRequest): string {
  const end = text.indexOf('\n', text.lastIndexOf('\nwant ') + 1)
  return end === -1 ? '' : text.slice(end)
}
