/** Schedules of the workflows on default branches, with the times at which they are due. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'workflow_schedules', {
    lines: [
      ID,
      'repository_id bigint not null',
      // Name of the file, without its folder.
      'workflow_file varchar(255) not null',
      // Cron expression as the file has it.
      'cron varchar(100) not null',
      'next_at bigint not null',
      'constraint workflow_schedules_once unique (repository_id, workflow_file, cron)',
      'constraint workflow_schedules_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { workflow_schedules_by_time: 'next_at' },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('workflow_schedules')
}
