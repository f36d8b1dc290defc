/** Table of the summaries that the steps of jobs write, as Markdown. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'workflow_summaries', {
    lines: [
      'task_id bigint not null',
      // Number of the step, as its runner counts.
      'step integer not null',
      'content mediumtext not null',
      // Size of the content in UTF-8.
      'bytes integer not null',
      'primary key (task_id, step)',
      'constraint workflow_summaries_task foreign key (task_id) references workflow_tasks (id) on delete cascade',
    ],
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('workflow_summaries')
}
