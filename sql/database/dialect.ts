/** Differences between SQLite and MySQL, except those of the client classes. */

import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Knex } from 'knex'
import { type DatabaseLocation, socketPathOf } from '../../conf/database-location.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import type { Settings } from '../../conf/settings.js'
import { MysqlClient } from './mysql-client.js'
import { SqliteClient } from './sqlite-client.js'

/** Longest wait of a query for a connection, either new or from the pool. */
const ACQUIRE_TIMEOUT_MS = 3_000
const CONNECT_TIMEOUT_MS = 2_500
const IDLE_TIMEOUT_MS = 60_000

/** Errors are thrown to the caller, so knex does not log them too. */
const SILENT = { warn() {}, error() {}, deprecate() {}, debug() {} }

const COMMON = {
  log: SILENT,
  // Errors must not contain the bindings of a statement, which include passwords.
  compileSqlOnError: false,
  acquireConnectionTimeout: ACQUIRE_TIMEOUT_MS,
} as const

/** Returns the knex configuration for the database. */
export function knexConfig(settings: Settings['database']): Knex.Config {
  const { location, connectionsMax } = settings
  if (location.kind === 'sqlite') {
    return {
      ...COMMON,
      client: SqliteClient,
      useNullAsDefault: true,
      connection: { filename: location.file },
      // SQLite has one writer and the driver is synchronous: a second connection in this process
      // could only wait for the first, and would block it by waiting.
      pool: { min: 1, max: 1 },
    }
  }
  return {
    ...COMMON,
    client: MysqlClient,
    connection: mysqlConnection(location.url),
    pool: {
      min: 0,
      max: connectionsMax,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      createTimeoutMillis: CONNECT_TIMEOUT_MS,
    },
  }
}

function mysqlConnection(url: URL): Knex.MySql2ConnectionConfig {
  const socketPath = socketPathOf(url)
  return {
    ...(socketPath === undefined ? addressOf(url) : { socketPath }),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: databaseName(url),
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    supportBigNumbers: true,
    decimalNumbers: true,
    stringifyObjects: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
  }
}

function addressOf(url: URL): Pick<Knex.MySql2ConnectionConfig, 'host' | 'port'> {
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || 3306) }
}

/** Creates the directory and the file of an SQLite database, readable by the own user only. */
export async function prepareLocation(location: DatabaseLocation): Promise<void> {
  if (location.kind !== 'sqlite') return
  await mkdir(dirname(location.file), { recursive: true, mode: 0o700 })
  const file = await open(location.file, 'a', 0o600)
  await file.close()
}

/** Returns the location of the database without the password. */
export function describeLocation(location: DatabaseLocation): string {
  if (location.kind === 'sqlite') return location.file
  const socketPath = socketPathOf(location.url)
  const name = databaseName(location.url)
  return socketPath === undefined ? `${location.url.host}/${name}` : `${name} at ${socketPath}`
}

function databaseName(url: URL): string {
  return decodeURIComponent(url.pathname.slice(1))
}

/** Returns true if the connection or transaction uses MySQL. */
export function isMysql(db: Knex): boolean {
  return db.client instanceof MysqlClient
}

/**
 * Returns the rows of a query in SQL that both databases support; on SQLite mostly synchronously.
 * Outside of transactions they may come from a cache, which has all changes that were acknowledged
 * before this call.
 */
export function selectRows<T>(
  db: Knex,
  sql: string,
  bindings: readonly Knex.RawBinding[] = [],
): Awaitable<readonly T[]> {
  const { client } = db
  const isCaching = client instanceof SqliteClient || client instanceof MysqlClient
  if (isCaching && db.isTransaction !== true) {
    return client.select(sql, bindings) as Awaitable<readonly T[]>
  }
  return queryConnection(db, sql, bindings)
}

/**
 * Returns a text that is different after each change of the database, apart from the tables of
 * `change-counter.ts`. Returns undefined in a transaction, and if changes cannot be seen.
 */
export function dataVersion(db: Knex): Awaitable<string | undefined> {
  const { client } = db
  const hasVersion = client instanceof SqliteClient || client instanceof MysqlClient
  return hasVersion && db.isTransaction !== true ? client.dataVersion() : undefined
}

async function queryConnection<T>(
  db: Knex,
  sql: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly T[]> {
  const result = await db.raw(sql, bindings)
  return isMysql(db) ? result[0] : result
}

/**
 * Returns the SQL for the value that an insert has for a column, for the changes that it makes to a
 * row with the same unique value.
 */
export function insertedValue(db: Knex, column: string): string {
  return isMysql(db) ? `values(${column})` : `excluded.${column}`
}

/** Checks the version and the collations of the server. Throws an Error that names the problem. */
export async function checkServer(db: Knex): Promise<void> {
  if (!isMysql(db)) {
    await selectRows(db, 'select 1')
    return
  }
  const version = await serverVersion(db)
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(version.replace(/^5\.5\.5-/, '')) ?? []
  const isMariadb = isMariadbVersion(version)
  const release = Number(major) * 1_000 + Number(minor)
  if (release < (isMariadb ? 10_006 : 8_000)) {
    throw new Error(`it runs ${version}, but MySQL 8.0 or MariaDB 10.6 or later is required`)
  }
  const collation = collationOf(version)
  const known = await selectRows(
    db,
    'select 1 from information_schema.collations where collation_name = ?',
    [collation],
  )
  if (known.length === 0) throw new Error(`it lacks the collation ${collation}`)
}

async function serverVersion(db: Knex): Promise<string> {
  const [row] = await selectRows<{ version: string }>(db, 'select version() as version')
  return row?.version ?? ''
}

function isMariadbVersion(version: string): boolean {
  return /mariadb/i.test(version)
}

/**
 * Returns a collation that compares byte by byte, including trailing spaces: under the servers'
 * default collations `ADMIN ` or `ÀDMIN` would match `admin`. MySQL and MariaDB name it
 * differently.
 */
function collationOf(version: string): string {
  return isMariadbVersion(version) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
}

/** Definition of the column `id` on SQLite. Ids of deleted rows are not reused. */
export const ID = 'id integer primary key autoincrement'
const MYSQL_ID = 'id bigint not null auto_increment primary key'

export interface TableDefinition {
  /** Columns and constraints, as in `create table`. */
  readonly lines: readonly string[]
  /** Index name → its columns. */
  readonly indexes?: Readonly<Record<string, string>>
  /** True if MySQL keeps the rows in memory only; they are lost when it restarts. */
  readonly isInMemory?: boolean
}

/**
 * Creates a table with its indexes unless it exists. MySQL commits each DDL statement, so one
 * statement creates everything there, and a killed process leaves no partial table.
 */
export async function createTable(
  db: Knex,
  name: string,
  { lines, indexes = {}, isInMemory = false }: TableDefinition,
): Promise<void> {
  if (isMysql(db)) {
    const keys = Object.entries(indexes).map(([index, columns]) => `index ${index} (${columns})`)
    const body = [...lines.map((line) => (line === ID ? MYSQL_ID : line)), ...keys].join(', ')
    const collation = collationOf(await serverVersion(db))
    const engine = isInMemory ? 'MEMORY' : 'InnoDB'
    await db.raw(
      `create table if not exists ${name} (${body}) engine = ${engine} default character set utf8mb4 collate ${collation}`,
    )
    return
  }
  await db.raw(`create table if not exists ${name} (${lines.join(', ')})`)
  for (const [index, columns] of Object.entries(indexes)) {
    await db.raw(`create index if not exists ${index} on ${name} (${columns})`)
  }
}

const LOCK_ATTEMPTS_MAX = 60
const LOCK_ATTEMPT_SECONDS = 5

/**
 * Runs `work` while holding a lock that excludes all other processes on all machines. On SQLite the
 * work is one transaction. MySQL commits at each DDL statement, so `work` must be idempotent.
 */
export async function withDatabaseLock<T>(
  db: Knex,
  work: (locked: Knex) => Promise<T>,
): Promise<T> {
  return await db.transaction(async (locked) => {
    if (!isMysql(db)) return await work(locked)
    await takeMysqlLock(locked)
    try {
      return await work(locked)
    } finally {
      await selectRows(locked, `select release_lock(${MYSQL_LOCK_NAME})`)
    }
  })
}

/**
 * Lock names are server-wide, so this one contains the database, hashed because of the limit of 64
 * characters.
 */
const MYSQL_LOCK_NAME = "concat('gatehouse.', md5(database()))"

async function takeMysqlLock(db: Knex): Promise<void> {
  for (let attempt = 1; attempt <= LOCK_ATTEMPTS_MAX; attempt += 1) {
    const [row] = await selectRows<{ taken: number | null }>(
      db,
      `select get_lock(${MYSQL_LOCK_NAME}, ${LOCK_ATTEMPT_SECONDS}) as taken`,
    )
    if (row?.taken === 1) return
  }
  throw new Error('another process holds the migration lock of the database')
}
