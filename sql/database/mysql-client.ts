/** MySQL client of knex, with the same session settings on every server. */

import KnexClient from 'knex/lib/dialects/mysql2/index.js'
import KnexTransaction from 'knex/lib/dialects/mysql2/transaction.js'
import type { Connection } from 'mysql2'
import { checkBindings } from './bindings.js'
import { translateError, unavailable } from './errors.js'
import { retryLockConflicts } from './retry.js'

/**
 * Limit of a query in milliseconds, so that an unresponsive server cannot hold a request forever.
 */
const QUERY_TIMEOUT_MS = 15_000
const LOCK_WAIT_TIMEOUT_SECONDS = 5

/** Duration depends on the size of the table, so these statements have no timeout. */
const UNBOUNDED_STATEMENT = /^\s*(?:create|alter|drop)\s/i

const SESSION_STATEMENTS = [
  // Without NO_BACKSLASH_ESCAPES, whatever the server's default is: the driver escapes with
  // backslashes.
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION'",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_TIMEOUT_SECONDS}`,
]

interface Query {
  readonly sql: string
  readonly bindings?: unknown
  options?: object
}

/**
 * MySQL client that differs from knex's: it sets up each session, validates bindings, limits every
 * wait, retries lost locks and translates errors.
 */
export class MysqlClient extends KnexClient {
  override async acquireRawConnection(): Promise<Connection> {
    const connection: Connection = await super.acquireRawConnection()
    for (const statement of SESSION_STATEMENTS) {
      await new Promise<void>((resolve, reject) => {
        connection.query(statement, (error) => {
          if (error === null) return resolve()
          connection.destroy()
          reject(error)
        })
      })
    }
    return connection
  }

  /** Keeps the error listener, unlike knex: a late connection reset would end the process. */
  override async destroyRawConnection(connection: Connection): Promise<void> {
    await new Promise<void>((resolve) => connection.end(() => resolve()))
  }

  override async acquireConnection(): Promise<Connection> {
    try {
      return await super.acquireConnection()
    } catch (error) {
      throw unavailable(error)
    }
  }

  override async query(connection: Connection, query: unknown): Promise<unknown> {
    try {
      if (isInTransaction(connection)) return await super.query(connection, query)
      // MySQL rolls back a failed statement as a whole, so it may be sent again.
      return await retryLockConflicts(() => super.query(connection, query))
    } catch (error) {
      throw translateError(error)
    }
  }

  override async _query(connection: Connection, query: Query): Promise<unknown> {
    checkBindings(query.bindings)
    const timeout = UNBOUNDED_STATEMENT.test(query.sql) ? undefined : QUERY_TIMEOUT_MS
    query.options = { timeout, ...query.options }
    try {
      return await super._query(connection, query)
    } catch (error) {
      // A late response would be taken for the response to the next query.
      if (isQueryTimeout(error)) connection.destroy()
      throw error
    }
  }

  override transaction(container: unknown, config: unknown, outer: unknown): never {
    return new Transaction(this, container, config, outer) as never
  }
}

/** Transaction that does not run its work if BEGIN fails, unlike knex's. */
class Transaction extends KnexTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.trxClient.query(connection, 'BEGIN')
  }
}

/** Reads the property that knex sets on a connection while a transaction holds it. */
function isInTransaction(connection: object): boolean {
  return '__knexTxId' in connection
}

function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'PROTOCOL_SEQUENCE_TIMEOUT'
}
