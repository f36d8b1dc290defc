/** Reads of the counter of changes of a MySQL database, as cheap as the driver permits. */

import type { Connection } from 'mysql2'
import { READ_CHANGES } from './change-counter.js'
import { unavailable } from './errors.js'

/**
 * Reader with a connection of its own: no pool, no knex, and a prepared statement. `read` must not
 * be called during another read.
 */
export class CounterReader {
  readonly #connect: () => Connection
  readonly #timeoutMs: number
  #connection: Connection | undefined
  #isClosed = false

  /**
   * `connect` returns a connection that may not be established yet. A read takes at most
   * `timeoutMs`, including the time for a new connection.
   */
  constructor(connect: () => Connection, timeoutMs: number) {
    this.#connect = connect
    this.#timeoutMs = timeoutMs
  }

  /**
   * Returns the counter as text that is different after each change; undefined if there is no
   * counter. Throws `unavailable` if the server does not answer.
   */
  async read(): Promise<string | undefined> {
    if (this.#isClosed) throw unavailable(new Error('the database is closed'))
    const connection = this.#connection ?? this.#open()
    try {
      const [row] = await this.#execute(connection)
      return row?.[0]
    } catch (error) {
      if (isMissingTable(error)) return undefined
      this.#drop(connection)
      throw unavailable(error)
    }
  }

  /** Closes the connection. A read in progress fails. */
  close(): void {
    this.#isClosed = true
    if (this.#connection !== undefined) this.#drop(this.#connection)
  }

  #open(): Connection {
    const connection = this.#connect()
    this.#connection = connection
    // An error outside of a read, such as the end of the server: the next read connects again.
    connection.on('error', () => this.#drop(connection))
    return connection
  }

  #drop(connection: Connection): void {
    if (this.#connection === connection) this.#connection = undefined
    connection.destroy()
  }

  #execute(connection: Connection): Promise<readonly string[][]> {
    return new Promise((resolve, reject) => {
      // The driver's own limit covers neither the connection nor the preparation.
      const timer = setTimeout(() => reject(new Error('timeout')), this.#timeoutMs)
      connection.execute({ sql: READ_CHANGES, rowsAsArray: true }, (error, rows) => {
        clearTimeout(timer)
        if (error === null) resolve(rows as unknown as readonly string[][])
        else reject(error)
      })
    })
  }
}

/** Returns true for the error of a statement on a table that does not exist. */
export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ER_NO_SUCH_TABLE'
}
