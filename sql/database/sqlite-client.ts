/** SQLite client of knex for several processes on one file and many small queries. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database as Connection, Statement } from 'better-sqlite3'
import KnexClient from 'knex/lib/dialects/better-sqlite3/index.js'
import KnexTransaction from 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { currentTick, endTick } from '../../conf/lib/tick.js'
import { checkBindings } from './bindings.js'
import { isSqliteBusy, translateError, unavailable } from './errors.js'
import { bindingsKey, ResultCache } from './result-cache.js'

/**
 * Lock timeout while a connection opens, when other processes may open, migrate or checkpoint the
 * same file.
 */
const OPEN_BUSY_TIMEOUT_MS = 10_000

/**
 * Lock timeout of the driver, which blocks the whole process while it waits. Longer waits are in
 * `waitForLocks`, which leaves the event loop free.
 */
const BUSY_TIMEOUT_MS = 20
const BUSY_WAIT_MAX_MS = 10_000
const BUSY_PAUSE_MAX_MS = 15

const STATEMENTS_MAX = 500

interface Query {
  readonly sql: string
  readonly bindings?: unknown
  response?: unknown
  context?: unknown
}

/**
 * SQLite client that differs from knex's in five ways: each connection caches prepared statements,
 * statements wait for locks of other processes, transactions take the write lock when they begin,
 * queries outside transactions use a separate read-only connection, and errors are translated. Has
 * no fields, because knex creates the clients of transactions without calling the constructor.
 */
export class SqliteClient extends KnexClient {
  override async acquireRawConnection(): Promise<Connection> {
    const connection: Connection = await super.acquireRawConnection()
    connection.pragma(`busy_timeout = ${OPEN_BUSY_TIMEOUT_MS}`)
    // Two processes that change the mode of a new file do not wait for each other: one fails.
    await waitForLocks(connection, () => connection.pragma('journal_mode = WAL'))
    // FULL keeps acknowledged writes after a loss of power; WAL with NORMAL would lose the last
    // ones.
    connection.pragma('synchronous = FULL')
    connection.pragma('foreign_keys = ON')
    connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return connection
  }

  /** Rolls back the transaction that a failed COMMIT, for example on a full disk, has left open. */
  override async validateConnection(connection: Connection): Promise<boolean> {
    if (connection.open && connection.inTransaction) connection.exec('ROLLBACK')
    return connection.open
  }

  override async acquireConnection(): Promise<Connection> {
    try {
      return await super.acquireConnection()
    } catch (error) {
      throw unavailable(error)
    }
  }

  override async query(connection: Connection, query: unknown): Promise<unknown> {
    return await waitForLocks(connection, () => super.query(connection, query))
  }

  /**
   * Returns the rows of a query outside any transaction, from a read-only connection: it sees
   * committed data and does not wait for transactions of this process. knex's pool and runner would
   * cost several times as much as a small query. Returns synchronously, except for the first query
   * and while another process holds a lock. Rows are frozen, because they are cached until the
   * database changes.
   */
  select(sql: string, bindings: unknown): Awaitable<readonly unknown[]> {
    const values = checkBindings(bindings).map(toSqlite)
    return this.useReader((cache) => cache.query(sql, values))
  }

  /** Returns a text that is different after each change of the database. */
  dataVersion(): Awaitable<string> {
    return this.useReader((cache) => cache.version())
  }

  /** Calls `use` with the read-only connection, again while another process holds a lock. */
  private useReader<T>(use: (cache: QueryCache) => T): Awaitable<T> {
    const cache = this.pool === undefined ? undefined : OPEN_READERS.get(this)
    if (cache === undefined) return this.useReaderWhenOpen(use)
    try {
      return use(cache)
    } catch (error) {
      if (!isSqliteBusy(error)) throw translateError(error)
      return waitForLocks(cache.reader, () => use(cache))
    }
  }

  private async useReaderWhenOpen<T>(use: (cache: QueryCache) => T): Promise<T> {
    const cache = await this.reader()
    return await waitForLocks(cache.reader, () => use(cache))
  }

  private async reader(): Promise<QueryCache> {
    if (this.pool === undefined) throw unavailable(new Error('the database is closed'))
    const opening = READERS.get(this) ?? this.openReader()
    READERS.set(this, opening)
    try {
      return await opening
    } catch (error) {
      READERS.delete(this)
      throw translateError(error)
    }
  }

  private async openReader(): Promise<QueryCache> {
    const reader = await this.acquireRawConnection()
    reader.pragma('query_only = ON')
    const cache = new QueryCache(reader)
    OPEN_READERS.set(this, cache)
    return cache
  }

  override async destroy(callback?: (error?: unknown) => void): Promise<void> {
    await super.destroy(callback)
    const cache = await READERS.get(this)?.catch(() => undefined)
    cache?.reader.close()
  }

  override async _query(connection: Connection, query: Query): Promise<Query> {
    // A full disk or a failed write has rolled back already. Its error is the one to report.
    if (query.sql.startsWith('ROLLBACK') && !connection.inTransaction) return query
    const statement = prepare(connection, query.sql)
    const bindings = checkBindings(query.bindings).map(toSqlite)
    if (statement.reader) {
      query.response = statement.all(bindings)
    } else {
      const result = statement.run(bindings)
      query.response = result
      query.context = { lastID: result.lastInsertRowid, changes: result.changes }
    }
    // Statements that return rows may have written too.
    endTick()
    return query
  }

  override transaction(container: unknown, config: unknown, outer: unknown): never {
    return new ImmediateTransaction(this, container, config, outer) as never
  }
}

/**
 * Transaction that takes the write lock immediately. A deferred transaction that reads first and
 * then writes fails without waiting if another process has written meanwhile.
 */
class ImmediateTransaction extends KnexTransaction {
  override begin(connection: unknown): Promise<unknown> {
    return this.trxClient.query(connection, 'BEGIN IMMEDIATE')
  }
}

const READERS = new WeakMap<SqliteClient, Promise<QueryCache>>()
/** Readers whose connection is open. */
const OPEN_READERS = new WeakMap<SqliteClient, QueryCache>()

/**
 * Runs `work` again while another process holds a lock that it needs, for up to BUSY_WAIT_MAX_MS.
 */
async function waitForLocks<T>(connection: Connection, work: () => T | Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + BUSY_WAIT_MAX_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      // Inside a transaction this connection holds the lock, so waiting would not help.
      const mayWait = isSqliteBusy(error) && !connection.inTransaction
      if (!mayWait || performance.now() > deadlineMs) throw translateError(error)
    }
    await sleep(1 + Math.random() * BUSY_PAUSE_MAX_MS)
  }
}

/** Cache of the results of a read-only connection, valid until the database changes. */
class QueryCache {
  readonly reader: Connection
  /**
   * Number that changes with each commit of another connection
   * (https://sqlite.org/pragma.html#pragma_data_version).
   */
  readonly #version: Statement
  readonly #results = new ResultCache()
  #cachedVersion: unknown
  #checkedTick: number | undefined

  constructor(reader: Connection) {
    this.reader = reader
    this.#version = reader.prepare('PRAGMA data_version').pluck()
  }

  query(sql: string, values: readonly unknown[]): readonly unknown[] {
    this.#checkVersionOfTick()
    const key = bindingsKey(values)
    const cached = this.#results.get(sql, key)
    return cached ?? this.#results.add(sql, key, prepare(this.reader, sql).all(values))
  }

  version(): string {
    this.#checkVersionOfTick()
    return String(this.#cachedVersion)
  }

  #checkVersionOfTick(): void {
    const tick = currentTick()
    if (tick === undefined || tick !== this.#checkedTick) this.#checkVersion()
    this.#checkedTick = tick
  }

  #checkVersion(): void {
    const version = this.#version.get()
    if (version !== this.#cachedVersion) this.#results.clear()
    this.#cachedVersion = version
  }
}

const STATEMENTS = new WeakMap<Connection, Map<string, Statement>>()

/**
 * Returns the prepared statement. Evicts the least recently used statement if there are too many.
 */
function prepare(connection: Connection, sql: string): Statement {
  const statements = STATEMENTS.get(connection) ?? new Map<string, Statement>()
  STATEMENTS.set(connection, statements)
  const statement = statements.get(sql) ?? connection.prepare(sql)
  statements.delete(sql)
  statements.set(sql, statement)
  if (statements.size > STATEMENTS_MAX) {
    for (const oldest of statements.keys()) {
      statements.delete(oldest)
      break
    }
  }
  return statement
}

function toSqlite(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value
}
