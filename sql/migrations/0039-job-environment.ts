/** Environments of jobs, which the pages show. */

import type { Knex } from 'knex'

/** Adds the column: the name of the environment, empty if the file names none. */
export async function up(db: Knex): Promise<void> {
  if (await db.schema.hasColumn('workflow_jobs', 'environment')) return
  await db.raw("alter table workflow_jobs add column environment varchar(255) not null default ''")
}

/** Drops the column. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('workflow_jobs', 'environment'))) return
  await db.raw('alter table workflow_jobs drop column environment')
}
