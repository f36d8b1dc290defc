/** SQLite client of knex for several processes on one file and many small queries. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database as Connection, Statement } from 'better-sqlite3'
import KnexClient from 'knex/lib/dialects/better-sqlite3/index.js'
import KnexTransaction from 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js'
import type { Awaitable } from '../../conf/awaitable.js'
import { currentTick, endTick } from '../../conf/tick.js'
import { checkBindings } from './bindings.js'
import { isSqliteBusy, translateError, unavailable } from './errors.js'

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
    connection.pragma('journal_mode = WAL')
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
    const answers = this.pool === undefined ? undefined : OPEN_READERS.get(this)
    if (answers === undefined) return this.selectWhenOpen(sql, values)
    try {
      return answers.ask(sql, values)
    } catch (error) {
      if (!isSqliteBusy(error)) throw translateError(error)
      return waitForLocks(answers.reader, () => answers.ask(sql, values))
    }
  }

  private async selectWhenOpen(
    sql: string,
    values: readonly unknown[],
  ): Promise<readonly unknown[]> {
    const answers = await this.reader()
    return await waitForLocks(answers.reader, () => answers.ask(sql, values))
  }

  private async reader(): Promise<Answers> {
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

  private async openReader(): Promise<Answers> {
    const reader = await this.acquireRawConnection()
    reader.pragma('query_only = ON')
    const answers = new Answers(reader)
    OPEN_READERS.set(this, answers)
    return answers
  }

  override async destroy(callback?: (error?: unknown) => void): Promise<void> {
    await super.destroy(callback)
    const answers = await READERS.get(this)?.catch(() => undefined)
    answers?.reader.close()
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

const READERS = new WeakMap<SqliteClient, Promise<Answers>>()
/** Those that have been opened. */
const OPEN_READERS = new WeakMap<SqliteClient, Answers>()

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

const ANSWERS_MAX = 1_000
/** A page of a list is seldom asked for twice. */
const ANSWER_ROWS_MAX = 10

/** What a connection that only reads has been told, for as long as the database stays as it is. */
class Answers {
  readonly reader: Connection
  /**
   * Number that changes with each commit of another connection
   * (https://sqlite.org/pragma.html#pragma_data_version).
   */
  readonly #version: Statement
  /** By the text of a question, which is mostly the same few, and then by its values. */
  readonly #known = new Map<string, Map<string, readonly unknown[]>>()
  #knownCount = 0
  #knownVersion: unknown
  #lookedIn: number | undefined

  constructor(reader: Connection) {
    this.reader = reader
    this.#version = reader.prepare('PRAGMA data_version').pluck()
  }

  ask(sql: string, values: readonly unknown[]): readonly unknown[] {
    const turn = currentTick()
    if (turn === undefined || turn !== this.#lookedIn) this.#look()
    this.#lookedIn = turn
    let key = ''
    for (const value of values) key += keyOf(value)
    const known = this.#known.get(sql)?.get(key)
    if (known !== undefined) return known
    const rows = Object.freeze(prepare(this.reader, sql).all(values).map(Object.freeze))
    if (rows.length > ANSWER_ROWS_MAX) return rows
    if (this.#knownCount >= ANSWERS_MAX) this.#forget()
    this.#keep(sql, key, rows)
    return rows
  }

  #look(): void {
    const version = this.#version.get()
    if (version !== this.#knownVersion) this.#forget()
    this.#knownVersion = version
  }

  #keep(sql: string, key: string, rows: readonly unknown[]): void {
    const ofQuery = this.#known.get(sql) ?? new Map<string, readonly unknown[]>()
    this.#known.set(sql, ofQuery.set(key, rows))
    this.#knownCount += 1
  }

  #forget(): void {
    this.#known.clear()
    this.#knownCount = 0
  }
}

/** Returns a prefix-free encoding, so that encodings can be concatenated without ambiguity. */
function keyOf(value: unknown): string {
  if (typeof value === 'string') return `${value.length}:${value}`
  return typeof value === 'bigint' ? `${value}n` : `${JSON.stringify(value)},`
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
