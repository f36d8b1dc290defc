/** Types of the knex classes that our clients extend; knex ships none for them. */

declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type { Knex } from 'knex'

  class SqliteClient extends Knex.Client {
    _query(connection: unknown, query: unknown): Promise<unknown>
  }
  export = SqliteClient
}

declare module 'knex/lib/dialects/mysql2/index.js' {
  import type { Knex } from 'knex'

  class MysqlClient extends Knex.Client {
    _query(connection: unknown, query: unknown): Promise<unknown>
  }
  export = MysqlClient
}

declare module 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js' {
  class SqliteTransaction {
    constructor(client: unknown, container: unknown, config: unknown, outer: unknown)
    readonly trxClient: { query(connection: unknown, sql: string): Promise<unknown> }
    begin(connection: unknown): Promise<unknown>
  }
  export = SqliteTransaction
}

declare module 'knex/lib/dialects/mysql2/transaction.js' {
  class MysqlTransaction {
    constructor(client: unknown, container: unknown, config: unknown, outer: unknown)
    /** Wanted isolation level; absent for that of the session. */
    readonly isolationLevel?: string
    readonly trxClient: { query(connection: unknown, sql: string): Promise<unknown> }
    begin(connection: unknown): Promise<unknown>
  }
  export = MysqlTransaction
}
