/** MariaDB schemas with all tables, which the tests of a process use one after the other. */

import mysql from 'mysql2'
import type { MariadbClient } from './mariadb.js'
import { type MysqlTemplate, mysqlTemplate } from './templates.js'

/** Schemas without rows of tests, by the port of their server. */
const unused = new Map<number, URL[]>()

/** Returns a schema with the tables and rows of a migrated database. */
export async function takeSchema(mariadb: MariadbClient): Promise<URL> {
  const kept = unused.get(mariadb.port)?.pop()
  if (kept !== undefined) return kept
  const url = await mariadb.createSchema()
  const { tables, rows } = await mysqlTemplate(mariadb)
  // The tests' server has NO_BACKSLASH_ESCAPES, but the driver escapes with backslashes.
  const create = [...UNCHECKED, ...Object.values(tables), ...Object.values(rows).flat()]
  await mariadb.run(`use ${nameOf(url)};\n${create.join(';\n')}`)
  return url
}

/**
 * Restores a schema for the next test. That takes a seventh of the CPU time of creating one. A
 * schema whose tables a test has changed is removed.
 */
export async function returnSchema(mariadb: MariadbClient, url: URL): Promise<void> {
  const name = nameOf(url)
  try {
    await endConnections(mariadb, name)
    await restoreRows(mariadb, name, await mysqlTemplate(mariadb))
  } catch {
    await mariadb.run(`drop database if exists ${name}`)
    return
  }
  unused.set(mariadb.port, [...(unused.get(mariadb.port) ?? []), url])
}

const UNCHECKED = ["set foreign_key_checks = 0, sql_mode = ''"]

/** Ends the connections of servers that a test has killed, so that they write no more rows. */
async function endConnections(mariadb: MariadbClient, name: string): Promise<void> {
  const connections = await mariadb.run(
    `select id from information_schema.processlist where db = '${name}'`,
  )
  for (const { id } of connections) {
    // It may have ended meanwhile.
    await mariadb.run(`kill ${id}`).catch(() => undefined)
  }
}

/** Empties the tables that have had rows, and inserts those that migrations write. */
async function restoreRows(
  mariadb: MariadbClient,
  schema: string,
  { tables, rows }: MysqlTemplate,
): Promise<void> {
  const names = Object.keys(tables)
  const used = await mariadb.run(
    `use ${schema}`,
    `${names.map((name) => `(select '${name}' as name from ${id(name)} limit 1)`).join(' union ')}
      union (select table_name from information_schema.tables where table_schema = '${schema}'
        and (auto_increment > 1 or table_name not in ('${names.join("', '")}')))`,
  )
  const changed = used.map(({ name }) => String(name))
  if (changed.some((name) => tables[name] === undefined)) throw new Error('there are new tables')
  const truncate = changed.map((name) => `truncate table ${id(name)}`)
  const insert = changed.flatMap((name) => rows[name] ?? [])
  await mariadb.run(`use ${schema};\n${[...UNCHECKED, ...truncate, ...insert].join(';\n')}`)
}

function id(table: string): string {
  return mysql.escapeId(table)
}

function nameOf(url: URL): string {
  return url.pathname.slice(1)
}
