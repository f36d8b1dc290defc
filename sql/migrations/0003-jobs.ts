/** Work that waits to be done in the background, and who does it now. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the table. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'jobs', {
    lines: [
      ID,
      'kind varchar(40) not null',
      'subject varchar(100) not null',
      'run_after bigint not null',
      // Set when the job is asked for while it runs: it runs once more after that.
      'again_after bigint',
      'attempts integer not null',
      'lease char(32)',
      'leased_until bigint',
      // A machine has as many of them as it runs jobs at once.
      'slot varchar(255)',
      'created_at bigint not null',
      'constraint jobs_subject unique (kind, subject)',
      'constraint jobs_slot unique (slot)',
    ],
    indexes: { jobs_due: 'run_after' },
  })
}

/** Drops the table. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('jobs')
}
