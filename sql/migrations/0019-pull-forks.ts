/** Review requests to teams, and scheduled merges. */

import type { Knex } from 'knex'
import { createTable, isMysql } from '../database/dialect.js'

const TEAM_REFERENCE = 'references teams (id) on delete cascade'

/** Unique key that limits a pull request to one review request per team. */
const TEAM_KEY = 'reviews_team_sole'
const TEAM_KEY_COLUMNS = '(pull_id, team_id, sole_state)'

/** Adds the column of `reviews`, and creates the table. */
export async function up(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('reviews', 'team_id'))) await addTeam(db)
  await createTable(db, 'scheduled_merges', {
    lines: [
      'pull_id bigint not null primary key',
      'doer_id bigint not null',
      'style varchar(20) not null',
      'title mediumtext not null',
      'message mediumtext not null',
      'deletes_branch boolean not null',
      // Commit to merge. If the head is another commit, nothing is merged.
      'head_commit varchar(64) not null',
      'created_at bigint not null',
      'constraint scheduled_merges_pull foreign key (pull_id) references pulls (id) on delete cascade',
      'constraint scheduled_merges_doer foreign key (doer_id) references users (owner_id) on delete cascade',
    ],
    indexes: { scheduled_merges_by_doer: 'doer_id', scheduled_merges_by_head: 'head_commit' },
  })
}

/**
 * Adds `team_id` with its constraints. On MySQL this is one statement, so that a killed process
 * leaves no partial change.
 */
async function addTeam(db: Knex): Promise<void> {
  if (isMysql(db)) {
    await db.raw(`alter table reviews add column team_id bigint,
      add constraint reviews_team foreign key (team_id) ${TEAM_REFERENCE},
      add constraint ${TEAM_KEY} unique ${TEAM_KEY_COLUMNS}`)
    return
  }
  await db.raw(`alter table reviews add column team_id bigint ${TEAM_REFERENCE}`)
  await db.raw(`create unique index ${TEAM_KEY} on reviews ${TEAM_KEY_COLUMNS}`)
}

/** Drops the table and the column. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('scheduled_merges')
  if (!(await db.schema.hasColumn('reviews', 'team_id'))) return
  if (isMysql(db)) {
    await db.raw(`alter table reviews drop foreign key reviews_team, drop key ${TEAM_KEY},
      drop column team_id`)
    return
  }
  await db.raw(`drop index ${TEAM_KEY}`)
  await db.raw('alter table reviews drop column team_id')
}
