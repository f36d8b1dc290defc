/** Databases with all tables, created once per run and copied for each test. */

import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import mysql from 'mysql2'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { migrate } from '../../sql/database/migrate.js'
import type { MariadbClient } from './mariadb.js'

/** Variable with the folder of this run's templates. */
export const TEMPLATES_VARIABLE = 'TEST_TEMPLATES_FOLDER'

const SQLITE = 'gatehouse.db'
const MYSQL = 'gatehouse.mysql.json'

/** Statements that create all tables and their rows. */
export interface MysqlTemplate {
  /** Table → its `create table` statement. */
  readonly tables: Readonly<Record<string, string>>
  /** Table → the statements that insert the rows that migrations write. */
  readonly rows: Readonly<Record<string, readonly string[]>>
}

/** Writes a migrated database of each kind to the folder; without MariaDB, only of SQLite. */
export async function makeTemplates(
  folder: string,
  mariadb: MariadbClient | undefined,
): Promise<void> {
  await makeSqliteTemplate(join(folder, SQLITE))
  if (mariadb === undefined) return
  await writeFile(join(folder, MYSQL), JSON.stringify(await dumpMigrated(mariadb)))
}

/** Writes a migrated SQLite database to the file, whose folder is created. */
export async function copySqliteTemplate(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const template = templateFile(SQLITE)
  if (template === undefined) await makeSqliteTemplate(file)
  else await copyFile(template, file)
}

let dump: Promise<MysqlTemplate> | undefined

/** Returns the statements of a migrated database. */
export async function mysqlTemplate(mariadb: MariadbClient): Promise<MysqlTemplate> {
  const file = templateFile(MYSQL)
  dump ??= file === undefined ? dumpMigrated(mariadb) : readTemplate(file)
  return await dump
}

async function readTemplate(file: string): Promise<MysqlTemplate> {
  return JSON.parse(await readFile(file, 'utf8')) as MysqlTemplate
}

/** Returns the path of a template, if this run has created it. */
function templateFile(name: string): string | undefined {
  const folder = process.env[TEMPLATES_VARIABLE]
  const file = folder === undefined ? undefined : join(folder, name)
  return file !== undefined && existsSync(file) ? file : undefined
}

async function makeSqliteTemplate(file: string): Promise<void> {
  const db = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
  await migrate(db)
  // Closing the last connection moves the write-ahead log into the file.
  await closeDatabase(db)
}

async function dumpMigrated(mariadb: MariadbClient): Promise<MysqlTemplate> {
  const url = await mariadb.createSchema()
  const db = await openDatabase({ location: { kind: 'mysql', url }, connectionsMax: 10 })
  await migrate(db)
  await closeDatabase(db)
  const schema = url.pathname.slice(1)
  const tables: Record<string, string> = {}
  const rows: Record<string, string[]> = {}
  for (const table of await mariadb.run(`show tables from ${schema}`)) {
    const name = String(Object.values(table)[0])
    const path = `${schema}.${mysql.escapeId(name)}`
    const [definition] = await mariadb.run(`show create table ${path}`)
    tables[name] = String(definition?.['Create Table'])
    const inserts = (await mariadb.run(`select * from ${path}`)).map((row) => {
      const values = Object.values(row).map((value) =>
        mysql.escape(value as string | number | null),
      )
      return `insert into ${mysql.escapeId(name)} values (${values.join(', ')})`
    })
    if (inserts.length > 0) rows[name] = inserts
  }
  await mariadb.run(`drop database ${schema}`)
  return { tables, rows }
}
