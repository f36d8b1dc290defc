/** Table of the states of logs, apart from the tasks: writes of a log change no other table. */

import type { Knex } from 'knex'
import { createTable, isMysql } from '../database/dialect.js'

const TABLE = 'workflow_logs'

/** Columns that were in the table of tasks. */
const MOVED: Readonly<Record<string, string>> = {
  log_rows: 'bigint not null default 0',
  log_bytes: 'bigint not null default 0',
  is_log_closed: 'boolean not null default 0',
}
const NAMES = Object.keys(MOVED).join(', ')

/** Creates the table and moves the columns into it. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, TABLE, {
    lines: [
      'task_id bigint not null primary key',
      // Number of acknowledged rows: those that are stored, and those beyond the limits.
      'log_rows bigint not null',
      'log_bytes bigint not null',
      // True if the runner has sent the last row.
      'is_log_closed boolean not null',
      'constraint workflow_logs_task foreign key (task_id) references workflow_tasks (id) on delete cascade',
    ],
  })
  if (!(await db.schema.hasColumn('workflow_tasks', 'log_rows'))) return
  await db.raw(`insert into ${TABLE} (task_id, ${NAMES}) select id, ${NAMES} from workflow_tasks
    where id not in (select task_id from ${TABLE})`)
  await alterTasks(
    db,
    Object.keys(MOVED).map((name) => `drop column ${name}`),
  )
}

/** Moves the columns back and drops the table. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasTable(TABLE))) return
  if (!(await db.schema.hasColumn('workflow_tasks', 'log_rows'))) {
    await alterTasks(
      db,
      Object.entries(MOVED).map(([name, type]) => `add column ${name} ${type}`),
    )
  }
  for (const name of Object.keys(MOVED)) {
    await db.raw(`update workflow_tasks set ${name} =
      (select l.${name} from ${TABLE} l where l.task_id = workflow_tasks.id)
      where id in (select task_id from ${TABLE})`)
  }
  await db.schema.dropTable(TABLE)
}

async function alterTasks(db: Knex, clauses: readonly string[]): Promise<void> {
  // On MySQL this is one statement: a killed process leaves no partial change.
  if (isMysql(db)) {
    await db.raw(`alter table workflow_tasks ${clauses.join(', ')}`)
    return
  }
  // SQLite changes one column with each statement; the first one is dropped last.
  for (const clause of [...clauses].reverse()) await db.raw(`alter table workflow_tasks ${clause}`)
}
