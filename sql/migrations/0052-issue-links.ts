/** Tables of the dependencies between issues, and of pinned issues. */

import type { Knex } from 'knex'
import { createTable } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'issue_dependencies', {
    lines: [
      // Issue that cannot be closed while the other one is open.
      'issue_id bigint not null',
      'dependency_id bigint not null',
      'created_at bigint not null',
      'primary key (issue_id, dependency_id)',
      'constraint issue_dependencies_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint issue_dependencies_dependency foreign key (dependency_id) references issues (id) on delete cascade',
    ],
    indexes: { issue_dependencies_by_dependency: 'dependency_id' },
  })
  await createTable(db, 'issue_pins', {
    lines: [
      'issue_id bigint not null primary key',
      'repository_id bigint not null',
      'is_pull boolean not null',
      // Place among the pinned issues, or pull requests, of the repository; the first is 1.
      'position bigint not null',
      'constraint issue_pins_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint issue_pins_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { issue_pins_by_repository: 'repository_id, is_pull, position' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of ['issue_pins', 'issue_dependencies']) await db.schema.dropTableIfExists(table)
}
