/** Jobs that are planned when their needs have ended, and the files that they are planned from. */

import type { Knex } from 'knex'
import { createTable, ID, isMysql } from '../database/dialect.js'

const COLUMNS: Readonly<Record<string, string>> = {
  // True if the job waits for the server, which plans it then; no runner takes it.
  is_deferred: 'boolean not null default 0',
  // The job that has become this one and others; null for jobs of the file.
  parent_id: 'bigint',
  // File of the job, if jobs of it are deferred, or if it was called; null for others.
  plan_id: 'bigint',
}

/** Creates the table, adds the columns, and lets keys name the jobs that they come from. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'workflow_plans', {
    lines: [
      ID,
      'run_id bigint not null',
      'text mediumtext not null',
      // The job that has called the file, and the call as JSON; null for the file of the run.
      'caller_job_id bigint',
      'workflow_call mediumtext',
      'constraint workflow_plans_run foreign key (run_id) references workflow_runs (id) on delete cascade',
    ],
    indexes: { workflow_plans_by_run: 'run_id', workflow_plans_by_caller: 'caller_job_id' },
  })
  if (await db.schema.hasColumn('workflow_jobs', 'is_deferred')) return
  const added = Object.entries(COLUMNS).map(([name, type]) => `add column ${name} ${type}`)
  // SQLite does not limit the length of a text.
  const clauses = [...added, 'modify column job_key varchar(1300) not null']
  if (isMysql(db)) await db.raw(`alter table workflow_jobs ${clauses.join(', ')}`)
  else for (const clause of added) await db.raw(`alter table workflow_jobs ${clause}`)
}

/** Drops the columns and the table. */
export async function down(db: Knex): Promise<void> {
  await db('workflow_jobs').whereNotNull('parent_id').delete()
  if (await db.schema.hasColumn('workflow_jobs', 'is_deferred')) {
    const dropped = Object.keys(COLUMNS).map((name) => `drop column ${name}`)
    const clauses = [...dropped, 'modify column job_key varchar(100) not null']
    if (isMysql(db)) await db.raw(`alter table workflow_jobs ${clauses.join(', ')}`)
    else for (const clause of dropped) await db.raw(`alter table workflow_jobs ${clause}`)
  }
  await db.schema.dropTableIfExists('workflow_plans')
}
