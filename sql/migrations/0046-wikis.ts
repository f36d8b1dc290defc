/** Sizes of wikis. */

import type { Knex } from 'knex'

/** Adds the column: the size of the wiki's Git data, or 0 if the repository has no wiki. */
export async function up(db: Knex): Promise<void> {
  if (await db.schema.hasColumn('repositories', 'wiki_size_kib')) return
  await db.raw('alter table repositories add column wiki_size_kib bigint not null default 0')
}

/** Drops the column. */
export async function down(db: Knex): Promise<void> {
  if (!(await db.schema.hasColumn('repositories', 'wiki_size_kib'))) return
  await db.raw('alter table repositories drop column wiki_size_kib')
}
