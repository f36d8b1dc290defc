/** MySQL client of knex, with the same session settings on every server. */

import KnexClient from 'knex/lib/dialects/mysql2/index.js'
import KnexTransaction from 'knex/lib/dialects/mysql2/transaction.js'
import type { Connection } from 'mysql2'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { checkBindings } from './bindings.js'
import { COUNT_CHANGE, namesUncounted, SharedRead, usesOnlyUncounted } from './change-counter.js'
import { CounterReader, isMissingTable } from './counter-reader.js'
import { isReferenceViolation, isUniqueViolation, translateError, unavailable } from './errors.js'
import { bindingsKey, ResultCache } from './result-cache.js'
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

/** Query of knex with its response. */
interface Response {
  readonly response: readonly [rows: readonly unknown[]]
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

  /** Closes all connections, after running statements have ended. */
  override async destroy(callback: () => void): Promise<void> {
    await super.destroy(callback)
    cacheOf(this).reader.close()
  }

  override async acquireConnection(): Promise<Connection> {
    try {
      return await super.acquireConnection()
    } catch (error) {
      throw unavailable(error)
    }
  }

  override async query(connection: Connection, query: unknown): Promise<unknown> {
    const sql = typeof query === 'string' ? query : (query as Query).sql
    const begun = TRANSACTIONS.get(connection)
    const isAlone = begun === undefined
    const isEnd = END.test(sql)
    if (isEnd) TRANSACTIONS.delete(connection)
    else if (begun !== undefined) begun.isCounted ||= !usesOnlyUncounted(sql)
    const send = () => super.query(connection, query)
    try {
      // MySQL rolls back a failed statement as a whole, so it may be sent again if it is alone.
      const result = isAlone ? await retryLockConflicts(send) : await send()
      if (sql === BEGIN) TRANSACTIONS.set(connection, { isCounted: false })
      const isCounted = isEnd
        ? begun?.isCounted !== false || sql === ROLLBACK
        : isAlone && !NO_CHANGE.test(sql)
      if (isCounted) await this.incrementCounter(connection, { isChange: sql !== ROLLBACK })
      return result
    } catch (error) {
      // A violated constraint reveals a change by others that may not be counted yet.
      if (isAlone && isViolation(error))
        await this.incrementCounter(connection, { isChange: false })
      throw translateError(error)
    }
  }

  /**
   * Increments the counter after a change was committed, and also after a rollback: the transaction
   * may have seen a change by others that is not counted yet. Throws `unavailable` if the increment
   * of a change fails: then it must not be acknowledged, and is seen when results expire.
   */
  private async incrementCounter(
    connection: Connection,
    { isChange }: { readonly isChange: boolean },
  ): Promise<void> {
    try {
      await sendStatement(connection, COUNT_CHANGE)
    } catch (error) {
      // Not an error of lost locks: the change is committed, and must not be made again.
      if (isChange && !isMissingTable(error)) throw unavailable(error)
    } finally {
      CACHES.get(this.config)?.versions.noteChange()
    }
  }

  /**
   * Returns the rows of a query outside any transaction. They may be cached; the cache is valid
   * while the counter of changes is the same. Rows are frozen.
   */
  select(sql: string, bindings: unknown): Awaitable<readonly unknown[]> {
    const cache = cacheOf(this)
    // Kept results name no such table; a search in the text costs more than a look for them.
    if (!cache.results.hasResultOf(sql) && namesUncounted(sql)) {
      return this.selectNow({ sql, bindings })
    }
    const key = bindingsKey(checkBindings(bindings))
    const { current } = cache.versions
    const query = { sql, bindings, key }
    if (current !== undefined) return this.selectAt(current.value, cache, query)
    return cache.versions.value().then((version) => this.selectAt(version, cache, query))
  }

  /**
   * Returns a text that is different after each counted change, and at the latest after
   * `RESULT_KEPT_MS`; undefined without a counter.
   */
  async dataVersion(): Promise<string | undefined> {
    const { versions } = cacheOf(this)
    const { value } = versions.current ?? { value: await versions.value() }
    return value && `${value} ${Math.floor(performance.now() / RESULT_KEPT_MS)}`
  }

  /** Returns the rows of a query as they are at a value of the counter of changes or later. */
  private selectAt(
    version: string | undefined,
    cache: MysqlCache,
    query: CachedQuery,
  ): Awaitable<readonly unknown[]> {
    if (version !== cache.version) cache.results.clear()
    cache.version = version
    const { sql, key } = query
    const cached = cache.results.get(sql, key)
    if (cached !== undefined) return cached
    return this.selectNow(query).then((rows) =>
      // A result that was read before a change must not be kept after it.
      version !== undefined && version === cache.version ? cache.results.add(sql, key, rows) : rows,
    )
  }

  private async selectNow({
    sql,
    bindings,
  }: Omit<CachedQuery, 'key'>): Promise<readonly unknown[]> {
    const connection = await this.acquireConnection()
    try {
      const { response } = (await this.query(connection, { sql, bindings })) as Response
      return response[0]
    } finally {
      await this.releaseConnection(connection)
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

/** Statements that change nothing. */
const NO_CHANGE = /^\s*(?:select|show|set|begin|commit|rollback|savepoint|release)\b/i

const BEGIN = 'BEGIN'

const ROLLBACK = 'ROLLBACK'

const END = /^(?:commit|rollback);?$/i

/**
 * Connections with an open transaction, with whether its commit is counted. Knex's own mark ends
 * with a nested transaction.
 */
const TRANSACTIONS = new WeakMap<object, { isCounted: boolean }>()

function isViolation(error: unknown): boolean {
  return isUniqueViolation(error) || isReferenceViolation(error)
}

/** Time after which a result is read again, also if the counter of changes is the same. */
const RESULT_KEPT_MS = 1_000

interface CachedQuery {
  readonly sql: string
  readonly bindings: unknown
  /** Bindings as text. */
  readonly key: string
}

interface MysqlCache {
  readonly results: ResultCache
  readonly reader: CounterReader
  readonly versions: SharedRead<string | undefined>
  version: string | undefined
}

/** Caches by configuration, which the clients of transactions share with the database's own. */
const CACHES = new WeakMap<object, MysqlCache>()

function cacheOf(client: MysqlClient): MysqlCache {
  const known = CACHES.get(client.config)
  if (known !== undefined) return known
  const connect = (): Connection => client.driver.createConnection(client.connectionSettings)
  const reader = new CounterReader(connect, QUERY_TIMEOUT_MS)
  const versions = new SharedRead(() => reader.read())
  const results = new ResultCache(RESULT_KEPT_MS)
  const cache = { results, reader, versions, version: undefined }
  CACHES.set(client.config, cache)
  return cache
}

/** Sends a statement past knex, which would cost more than the statement. */
function sendStatement(connection: Connection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query({ sql, timeout: QUERY_TIMEOUT_MS }, (error) => {
      if (error === null) return resolve()
      if (isQueryTimeout(error)) connection.destroy()
      reject(error)
    })
  })
}

/** Transaction that does not run its work if BEGIN fails, unlike knex's. */
class Transaction extends KnexTransaction {
  override async begin(connection: unknown): Promise<unknown> {
    const { isolationLevel: level } = this
    if (level !== undefined) {
      await this.trxClient.query(connection, `SET TRANSACTION ISOLATION LEVEL ${level}`)
    }
    return await this.trxClient.query(connection, BEGIN)
  }
}

function isQueryTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'PROTOCOL_SEQUENCE_TIMEOUT'
}
