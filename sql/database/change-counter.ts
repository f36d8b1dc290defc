/**
 * A counter of the changes of a MySQL database, with which all workers and gateways validate their
 * cached results. Who commits a change increments it before the change is acknowledged.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { shareUntilNextWait } from '../../conf/lib/tick.js'

/** Table of the counter. It is in memory, so that an increment needs no write to a disk. */
export const CHANGE_COUNTER_TABLE = 'change_counter'

/** Statement that increments the counter. A restart empties the table: then the epoch is new. */
export const COUNT_CHANGE = `insert into ${CHANGE_COUNTER_TABLE} (id, epoch, changes) values (1, uuid(), 1) on duplicate key update changes = changes + 1`

/**
 * Query of the counter. Its text is different after each change. It is one column, because the
 * driver parses the description of each column with each row.
 */
export const READ_CHANGES = `select concat(epoch, ' ', changes) from ${CHANGE_COUNTER_TABLE}`

/**
 * Tables whose changes are not counted, because clients can make many of them. Therefore no result
 * of a query that names one of them may be kept.
 */
const UNCOUNTED_TABLES = 'workflow_logs|workflow_log_parts|failed_attempts'

const NAMES_UNCOUNTED = new RegExp(`\\b(?:${UNCOUNTED_TABLES})\\b`, 'i')

const USES_ONLY_UNCOUNTED = new RegExp(
  `^(?:insert into|select [^()]+ from) \`(?:${UNCOUNTED_TABLES})\`(?!.*\\b(?:select|join)\\b)`,
  'is',
)

/** Returns true if a query uses a table whose changes are not counted. */
export function namesUncounted(sql: string): boolean {
  return NAMES_UNCOUNTED.test(sql)
}

/** Returns true if a statement uses no other tables than those whose changes are not counted. */
export function usesOnlyUncounted(sql: string): boolean {
  return USES_ONLY_UNCOUNTED.test(sql)
}

/** Reads of a value that are shared, but never with a read that began before the request for it. */
export class SharedRead<T> {
  readonly #read: () => Promise<T>
  #next: Promise<T> | undefined
  #running: Promise<unknown> = Promise.resolve()
  #current: { readonly value: T } | undefined
  #changes = 0

  constructor(read: () => Promise<T>) {
    this.#read = read
  }

  /**
   * The value just read, until all code that waited for it has run up to its next wait for
   * something else. Only that code runs meanwhile, and it began before the read. Undefined also if
   * this process has changed the value since the read began.
   */
  get current(): { readonly value: T } | undefined {
    return this.#current
  }

  /** Invalidates reads in progress. Must be called after each change by this process. */
  noteChange(): void {
    this.#changes += 1
    this.#current = undefined
  }

  /**
   * Returns the value as it is at this call or later. Calls of one event-loop tick, and those that
   * arrive during a read or directly after it, share the next one.
   */
  value(): Promise<T> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<T> {
    await this.#running
    await nextTurn()
    // Meanwhile, clients that the last read has answered send their next requests.
    await nextTurn()
    this.#next = undefined
    const changes = this.#changes
    const reading = this.#read()
    this.#running = reading.catch(() => {})
    const value = await reading
    if (changes !== this.#changes) return value
    this.#current = { value }
    shareUntilNextWait()
    // Runs when no microtask is left.
    process.nextTick(() => {
      this.#current = undefined
    })
    return value
  }
}
