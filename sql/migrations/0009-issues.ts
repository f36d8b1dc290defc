/**
 * Tables of issues and of the issue part of pull requests: numbers, labels, milestones, comments.
 */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createLabels(db)
  await createIssues(db)
  await createLinks(db)
  await createComments(db)
}

async function createLabels(db: Knex): Promise<void> {
  await createTable(db, 'labels', {
    lines: [
      ID,
      // Exactly one of the two is set.
      'repository_id bigint',
      'organization_id bigint',
      'name varchar(255) not null',
      'color char(6) not null',
      'description varchar(2048) not null',
      'is_exclusive boolean not null',
      'is_archived boolean not null',
      'created_at bigint not null',
      'constraint labels_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint labels_organization foreign key (organization_id) references organizations (owner_id) on delete cascade',
    ],
    indexes: {
      labels_by_repository: 'repository_id, name',
      labels_by_organization: 'organization_id, name',
    },
  })
  await createTable(db, 'milestones', {
    lines: [
      ID,
      'repository_id bigint not null',
      'title varchar(255) not null',
      'description mediumtext not null',
      "state varchar(10) not null check (state in ('open', 'closed'))",
      'due_at bigint',
      'created_at bigint not null',
      'updated_at bigint not null',
      'closed_at bigint',
      'constraint milestones_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
    indexes: { milestones_by_repository: 'repository_id, title' },
  })
}

async function createIssues(db: Knex): Promise<void> {
  // Separate from `issues`, so that the number of a deleted issue is not reused.
  await createTable(db, 'issue_numbers', {
    lines: [
      'repository_id bigint not null primary key',
      'last_number bigint not null',
      'constraint issue_numbers_repository foreign key (repository_id) references repositories (id) on delete cascade',
    ],
  })
  await createTable(db, 'issues', {
    lines: [
      ID,
      'repository_id bigint not null',
      'number bigint not null',
      'is_pull boolean not null',
      'title varchar(255) not null',
      'content mediumtext not null',
      // Null if the account was deleted.
      'author_id bigint',
      "state varchar(10) not null check (state in ('open', 'closed'))",
      'milestone_id bigint',
      'ref varchar(255) not null',
      'due_at bigint',
      'is_locked boolean not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'closed_at bigint',
      'constraint issues_number unique (repository_id, number)',
      'constraint issues_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint issues_author foreign key (author_id) references users (owner_id) on delete set null',
      'constraint issues_milestone foreign key (milestone_id) references milestones (id) on delete set null',
    ],
    indexes: {
      issues_by_state: 'repository_id, state, is_pull, created_at',
      issues_by_author: 'author_id',
      issues_by_milestone: 'milestone_id, state',
    },
  })
}

async function createLinks(db: Knex): Promise<void> {
  await createTable(db, 'issue_labels', {
    lines: [
      'issue_id bigint not null',
      'label_id bigint not null',
      'primary key (issue_id, label_id)',
      'constraint issue_labels_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint issue_labels_label foreign key (label_id) references labels (id) on delete cascade',
    ],
    indexes: { issue_labels_by_label: 'label_id' },
  })
  for (const table of ['issue_assignees', 'issue_mentions']) {
    await createTable(db, table, {
      lines: [
        'issue_id bigint not null',
        'user_id bigint not null',
        'primary key (issue_id, user_id)',
        `constraint ${table}_issue foreign key (issue_id) references issues (id) on delete cascade`,
        `constraint ${table}_user foreign key (user_id) references users (owner_id) on delete cascade`,
      ],
      indexes: { [`${table}_by_user`]: 'user_id' },
    })
  }
}

async function createComments(db: Knex): Promise<void> {
  await createTable(db, 'comments', {
    lines: [
      ID,
      'issue_id bigint not null',
      'author_id bigint',
      'content mediumtext not null',
      'created_at bigint not null',
      'updated_at bigint not null',
      'constraint comments_issue foreign key (issue_id) references issues (id) on delete cascade',
      'constraint comments_author foreign key (author_id) references users (owner_id) on delete set null',
    ],
    indexes: { comments_by_issue: 'issue_id, created_at', comments_by_author: 'author_id' },
  })
  for (const [table, subject] of [
    ['issue_reactions', 'issue'],
    ['comment_reactions', 'comment'],
  ] as const) {
    await createTable(db, table, {
      lines: [
        ID,
        `${subject}_id bigint not null`,
        'user_id bigint not null',
        'content varchar(20) not null',
        'created_at bigint not null',
        `constraint ${table}_once unique (${subject}_id, user_id, content)`,
        `constraint ${table}_subject foreign key (${subject}_id) references ${subject}s (id) on delete cascade`,
        `constraint ${table}_user foreign key (user_id) references users (owner_id) on delete cascade`,
      ],
      indexes: { [`${table}_by_user`]: 'user_id' },
    })
  }
}

const TABLES = [
  'comment_reactions',
  'issue_reactions',
  'comments',
  'issue_mentions',
  'issue_assignees',
  'issue_labels',
  'issues',
  'issue_numbers',
  'milestones',
  'labels',
]

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  for (const table of TABLES) await db.schema.dropTableIfExists(table)
}
