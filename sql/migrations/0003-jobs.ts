/** Table of background jobs and of the leases of running jobs. */

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
      // Set if the job is enqueued while it runs: it then runs once more.
      'again_after bigint',
      'attempts integer not null',
      'lease char(32)',
      'leased_until bigint',
      // Machine name and slot number of a running job. A machine has as many slots as it may run
      // jobs concurrently.
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
