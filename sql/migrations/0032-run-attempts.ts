/** Columns of workflow automation: attempts of runs. */

import type { Knex } from 'knex'
import { isMysql } from '../database/dialect.js'

/** Columns by table and name. The first one is there if and only if the table was changed. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  workflow_runs: {
    // Number of the newest attempt; the first one has 1.
    attempt: 'integer not null default 1',
    // User who asked for the newest attempt; null for the first one.
    rerun_actor_id: 'bigint',
  },
  workflow_jobs: {
    // First attempt of the run that the job belongs to.
    attempt: 'integer not null default 1',
    // Last attempt that the job belongs to; null if no newer job has replaced it.
    last_attempt: 'integer',
    // Position within the attempts, in which jobs of several attempts can have the same one; null
    // if it is `position`, which is unique within the run. SQLite cannot drop that unique key
    // without a new table, and so without deleting the tasks of the jobs.
    place: 'integer',
  },
}

const INDEX = 'workflow_jobs_by_attempt'
const INDEXED = 'run_id, last_attempt'

/** Adds the columns and an index. All runs and jobs so far are of the first attempt. */
export async function up(db: Knex): Promise<void> {
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const [first = ''] = Object.keys(columns)
    if (await db.schema.hasColumn(table, first)) continue
    const clauses = Object.entries(columns).map(([name, type]) => `add column ${name} ${type}`)
    const isIndexed = table === 'workflow_jobs'
    // On MySQL this is one statement: a killed process leaves no partial change.
    if (isMysql(db)) {
      const keys = isIndexed ? [`add index ${INDEX} (${INDEXED})`] : []
      await db.raw(`alter table ${table} ${[...clauses, ...keys].join(', ')}`)
      continue
    }
    for (const clause of clauses) await db.raw(`alter table ${table} ${clause}`)
    if (isIndexed) await db.raw(`create index ${INDEX} on ${table} (${INDEXED})`)
  }
}

/** Drops the index and the columns. */
export async function down(db: Knex): Promise<void> {
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const names = Object.keys(columns)
    if (!(await db.schema.hasColumn(table, names[0] ?? ''))) continue
    const isIndexed = table === 'workflow_jobs'
    if (isMysql(db)) {
      const keys = isIndexed ? [`drop key ${INDEX}`] : []
      const dropped = names.map((name) => `drop column ${name}`)
      await db.raw(`alter table ${table} ${[...keys, ...dropped].join(', ')}`)
      continue
    }
    if (isIndexed) await db.raw(`drop index ${INDEX}`)
    for (const name of names) await db.raw(`alter table ${table} drop column ${name}`)
  }
}
