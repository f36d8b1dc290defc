/** knex's MySQL client, with sessions that behave the same on every server. */

import KnexClient from 'knex/lib/dialects/mysql2/index.js'
import KnexTransaction from 'knex/lib/dialects/mysql2/transaction.js'
import type { Connection } from 'mysql2'
import { checkBindings } from './bindings.js'
import { translateError, unavailable } from './errors.js'
import { retryLockConflicts } from './retry.js'

/** No question of the house takes longer; a server that froze must not hold a request for ever. */
const QUERY_TIMEOUT_MS = 15_000
const LOCK_WAIT_TIMEOUT_SECONDS = 5

/** Changing a table takes as long as the table is large. */
const UNBOUNDED_STATEMENT = /^\s*(?:create|alter|drop)\s/i

const SESSION_STATEMENTS = [
  // Without NO_BACKSLASH_ESCAPES, whatever the server's default: the driver escapes by backslash.
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
 * Differs from knex's own: sessions are set up in full, values are checked, every wait has an
 * end, lost locks are tried again, and errors come out as the house knows them.
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

  /** knex's own takes the error listener off, and a late reset would end the process. */
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
      // A statement on its own has been rolled back whole, so it may be sent again.
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
      // The answer may still come, and would be taken for that of the next question.
      if (isQueryTimeout(error)) connection.destroy()
      throw error
    }
  }

  override transaction(container: unknown, config: unknown, outer: unknown): never {
    return new Transaction(this, container, config, outer) as never
  }
}

/** knex's own would start the work even though BEGIN had failed. */
class Transaction extends KnexTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.trxClient.query(connection, 'BEGIN')
  }
}

/** knex marks a connection with the transaction that holds it. */
function isInTransaction(connection: object): boolean {
  return '__knexTxId' in connection
}

function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'PROTOCOL_SEQUENCE_TIMEOUT'
}
