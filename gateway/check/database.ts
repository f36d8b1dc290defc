/** Check D1: the database is migrated and whole, and no row names a missing one. */

import { findDamagedPages, findOrphans } from '../../sql/database/integrity.js'
import { migrationStatus, refuseNewerDatabase } from '../../sql/database/migrate.js'
import type { CheckContext, CheckScope, CheckStep, Finding } from './finding.js'

/** Yields problems of the schema, of pages and of foreign keys. */
export async function* checkDatabase(
  context: CheckContext,
  { isDeep, repositories }: CheckScope,
): AsyncGenerator<CheckStep> {
  if (repositories !== undefined) return
  for (const finding of await examine(context, isDeep)) {
    yield {
      finding,
      persists: async () =>
        (await examine(context, isDeep)).some(({ problem }) => problem === finding.problem),
    }
  }
}

async function examine({ db }: CheckContext, isDeep: boolean): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const add = (subject: string, problem: string, remedy: string) =>
    findings.push({ code: 'D1', subject, problem, remedy })
  const newer = await refuseNewerDatabase(db).then(() => undefined, messageOf)
  if (newer !== undefined) add('migrations', newer, 'Start the newer Gatehouse')
  const waiting = (await migrationStatus(db)).filter(({ appliedAtMs }) => appliedAtMs === undefined)
  for (const { name } of waiting) {
    add('migrations', `The migration ${name} is not applied`, "Run 'gatehouse db migrate'")
  }
  for (const text of await findDamagedPages(db, isDeep)) {
    add('database', `SQLite finds a damaged file (${text})`, RESTORE)
  }
  for (const { table, parent, rows } of await findOrphans(db)) {
    add(table, `${rows} row(s) of ${table} name missing rows of ${parent}`, RESTORE)
  }
  return findings
}

const RESTORE = 'Restore the database from a backup'

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
