/** Schema of workflow automation: attempts of runs, and concurrency groups. */

import type { Knex } from 'knex'
import { createTable, isMysql } from '../database/dialect.js'

/** Concurrency group of a run or job. */
const GROUP = {
  // Name of the group; null if there is none.
  concurrency_group: 'varchar(255)',
  // SHA-256 of the name in lower case, in hexadecimal.
  concurrency_key: 'char(64)',
  // True if a new member of the group cancels the active one.
  concurrency_cancels: 'boolean not null default 0',
  // `outside` before the run or job enters the group, then `entered`, in the end `left`.
  group_state: "varchar(10) not null default 'outside'",
}

/** Columns by table and name. The first one is there if and only if the table was changed. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  workflow_runs: {
    // Number of the newest attempt; the first one has 1.
    attempt: 'integer not null default 1',
    // User who asked for the newest attempt; null for the first one.
    rerun_actor_id: 'bigint',
    ...GROUP,
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
    ...GROUP,
  },
}

const INDEX = 'workflow_jobs_by_attempt'
const INDEXED = 'run_id, last_attempt'

/**
 * Adds the columns, an index and the table of groups. All runs and jobs so far are of the first
 * attempt.
 */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'workflow_groups', {
    lines: [
      'repository_id bigint not null',
      'group_key char(64) not null',
      // The active and the pending member: a run, or a job of it; the run itself has the job 0.
      'active_run bigint',
      'active_job bigint',
      'pending_run bigint',
      'pending_job bigint',
      // True if the active member is cancelled because of a newer one.
      'is_cancelled boolean not null',
      'primary key (repository_id, group_key)',
      `constraint workflow_groups_repository foreign key (repository_id)
        references repositories (id) on delete cascade`,
    ],
  })
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

/** Drops the table, the index and the columns. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('workflow_groups')
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
