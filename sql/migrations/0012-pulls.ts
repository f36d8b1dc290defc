/** Tables of pull requests, for the data that issues do not have, and of reviews. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'pulls', {
    lines: [
      ID,
      'issue_id bigint not null unique',
      'repository_id bigint not null',
      // Null if the head repository was deleted.
      'head_repository_id bigint',
      'head_branch varchar(1024) not null',
      'base_branch varchar(1024) not null',
      'head_commit varchar(64) not null',
      'merge_base varchar(64) not null',
      // Digest of both repositories and branches while the pull request is open, and null
      // afterwards. Unique, so that there is one open pull request for each pair of branches.
      'open_targets char(64) unique',
      'merged_at bigint',
      'merged_by bigint',
      // If `merged_at` is null: the commit that an unfinished merge was about to make the tip of
      // the base branch.
      'merge_commit varchar(64)',
      'allow_maintainer_edit boolean not null',
      // Tips for which `is_mergeable` was determined.
      'checked_base varchar(64) not null',
      'checked_head varchar(64) not null',
      'is_mergeable boolean not null',
      'constraint pulls_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint pulls_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint pulls_head_repository foreign key (head_repository_id) references repositories (id) on delete set null',
      'constraint pulls_merger foreign key (merged_by) references users (owner_id) on delete set null',
    ],
    indexes: {
      pulls_by_repository: 'repository_id',
      pulls_by_head_repository: 'head_repository_id',
      pulls_by_merger: 'merged_by',
    },
  })
  await createReviews(db)
}

async function createReviews(db: Knex): Promise<void> {
  await createTable(db, 'reviews', {
    lines: [
      ID,
      'pull_id bigint not null',
      // Null if the account was deleted.
      'reviewer_id bigint',
      "state varchar(20) not null check (state in ('APPROVED', 'PENDING', 'COMMENT', 'REQUEST_CHANGES', 'REQUEST_REVIEW'))",
      // State of a review that a reviewer can have once per pull request; null for other reviews.
      'sole_state varchar(20)',
      'content mediumtext not null',
      'commit_id varchar(64) not null',
      'is_official boolean not null',
      'is_dismissed boolean not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint reviews_sole unique (pull_id, reviewer_id, sole_state)',
      'constraint reviews_pull foreign key (pull_id) references pulls (id) on delete cascade',
      'constraint reviews_reviewer foreign key (reviewer_id) references users (owner_id) on delete set null',
    ],
    indexes: { reviews_by_reviewer: 'reviewer_id' },
  })
  await createTable(db, 'review_comments', {
    lines: [
      ID,
      'review_id bigint not null',
      'path text not null',
      // Line number in the new file; a negative number is a line of the old file.
      'line bigint not null',
      'commit_id varchar(64) not null',
      'diff_hunk mediumtext not null',
      'content mediumtext not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint review_comments_review foreign key (review_id) references reviews (id) on delete cascade',
    ],
    indexes: { review_comments_by_review: 'review_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  const tables = ['review_comments', 'reviews', 'pulls']
  for (const table of tables) await db.schema.dropTableIfExists(table)
}
