/** Examination of rows: findings are differences that a second examination of the row has too. */

import { type PageReader, pagesOf } from '../../sql/database/page.js'
import type { CheckStep, Cursor, Finding } from './finding.js'
import { inLanes } from './in-lanes.js'

export interface Examination<T> {
  /** Returns the differences of an entry. */
  readonly examine: (entry: T) => Promise<readonly Finding[]>
  /** Reads the entry again; undefined if it was deleted. */
  readonly reread: (entry: T) => Promise<T | undefined>
  /** Removes the cause of a finding without loss of data; absent if that is impossible. */
  readonly repair?: (entry: T) => Promise<void>
}

/** Examines all entries of a page concurrently. */
export async function* examineAll<T>(
  entries: readonly T[],
  { examine, reread, repair }: Examination<T>,
): AsyncGenerator<CheckStep> {
  const found = await inLanes(entries, examine)
  for (const [at, entry] of entries.entries()) {
    for (const finding of found[at] ?? []) {
      yield {
        finding,
        async persists() {
          const now = await reread(entry)
          const again = now === undefined ? [] : await examine(now)
          return again.some(({ problem }) => problem === finding.problem)
        },
        ...(repair === undefined ? {} : { repair: () => repair(entry) }),
      }
    }
  }
}

/** Rows of one kind, and the position after which they are examined. */
export interface RowList<T> {
  /** Name of the list, which is unique in its check. */
  readonly list: string
  readonly read: PageReader<T>
  readonly cursor: Cursor
}

/** Examines all rows, page by page; the memory is that of one page. */
export async function* examineRows<T extends { readonly id: number }>(
  { list, read, cursor }: RowList<T>,
  examination: Pick<Examination<T>, 'examine' | 'repair'>,
): AsyncGenerator<CheckStep> {
  const reread = async ({ id }: T) => {
    const [found] = await read({ afterId: id - 1, limit: 1 })
    return found?.id === id ? found : undefined
  }
  for await (const page of pagesOf(read, cursor.after(list))) {
    yield* examineAll(page, { ...examination, reread })
    const last = page.at(-1)
    if (last !== undefined) cursor.note(list, last.id)
    yield undefined
  }
}
