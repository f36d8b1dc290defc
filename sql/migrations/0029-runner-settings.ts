/** Settings of runners, disabled workflows, numbers of deleted runs, and an index of runs. */

import type { Knex } from 'knex'
import { createTable, isMysql } from '../database/dialect.js'

const REPOSITORY = 'foreign key (repository_id) references repositories (id) on delete cascade'

const SETTINGS = ['is_disabled', 'runs_forks']

/** Index with all columns by which the runs of a repository are filtered. */
const INDEX = 'workflow_runs_by_filter'
const INDEX_COLUMNS = '(repository_id, number, event, ref, status, actor_id, commit_id)'

/** Adds the columns and the index, and creates the tables. */
export async function up(db: Knex): Promise<void> {
  // The index is added first, because the columns show whether this was done.
  if (!(await db.schema.hasColumn('runners', 'is_disabled'))) {
    await dropIndex(db)
    await db.raw(`create index ${INDEX} on workflow_runs ${INDEX_COLUMNS}`)
    await addSettings(db)
  }
  await createTable(db, 'workflow_switches', {
    lines: [
      'repository_id bigint not null',
      // Name of the file of a workflow that starts no run.
      'workflow_file varchar(255) not null',
      'disabled_at bigint not null',
      'primary key (repository_id, workflow_file)',
      `constraint workflow_switches_repository ${REPOSITORY}`,
    ],
  })
  await createTable(db, 'workflow_numbers', {
    lines: [
      'repository_id bigint not null primary key',
      // Highest number of a deleted run, so that no other run gets it.
      'number bigint not null',
      `constraint workflow_numbers_repository ${REPOSITORY}`,
    ],
  })
}

/** Adds the columns, on MySQL in one statement: a killed process leaves no partial change. */
async function addSettings(db: Knex): Promise<void> {
  const added = SETTINGS.map((name) => `add column ${name} boolean not null default 0`)
  if (isMysql(db)) {
    await db.raw(`alter table runners ${added.join(', ')}`)
    return
  }
  for (const column of added) await db.raw(`alter table runners ${column}`)
}

/** Drops the index if it exists. */
async function dropIndex(db: Knex): Promise<void> {
  if (!isMysql(db)) {
    await db.raw(`drop index if exists ${INDEX}`)
    return
  }
  const [rows] = await db.raw('show index from workflow_runs where Key_name = ?', [INDEX])
  if (rows.length > 0) await db.raw(`alter table workflow_runs drop key ${INDEX}`)
}

/** Drops the tables, the index and the columns. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('workflow_numbers')
  await db.schema.dropTableIfExists('workflow_switches')
  await dropIndex(db)
  if (!(await db.schema.hasColumn('runners', 'is_disabled'))) return
  const dropped = SETTINGS.map((name) => `drop column ${name}`)
  if (isMysql(db)) {
    await db.raw(`alter table runners ${dropped.join(', ')}`)
    return
  }
  for (const column of dropped) await db.raw(`alter table runners ${column}`)
}
