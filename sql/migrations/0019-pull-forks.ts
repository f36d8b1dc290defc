/** Reviews that are asked of teams, and merges that wait for their checks. */

import type { Knex } from 'knex'
import { createTable, isMysql } from '../database/dialect.js'

const TEAM_REFERENCE = 'references teams (id) on delete cascade'

/** A team is asked once, as a person is. */
const TEAM_KEY = 'reviews_team_sole'
const TEAM_KEY_COLUMNS = '(pull_id, team_id, sole_state)'

/** Creates the column of reviews, and the table. */
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
      // The commit to merge; no other head is merged.
      'head_commit varchar(64) not null',
      'created_at bigint not null',
      'constraint scheduled_merges_pull foreign key (pull_id) references pulls (id) on delete cascade',
      'constraint scheduled_merges_doer foreign key (doer_id) references users (owner_id) on delete cascade',
    ],
    indexes: { scheduled_merges_by_doer: 'doer_id', scheduled_merges_by_head: 'head_commit' },
  })
}

/** On MySQL in one statement, so that a process which is killed never leaves a part of it. */
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

/** Drops them. */
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
