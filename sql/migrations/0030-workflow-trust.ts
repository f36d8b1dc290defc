/** Columns of workflow automation: jobs of matrices, and runs of pull requests and of forks. */

import type { Knex } from 'knex'
import { isMysql } from '../database/dialect.js'

interface Change {
  readonly table: string
  /** Columns by their names. The first one is there if and only if the table was changed. */
  readonly columns: Readonly<Record<string, string>>
  /** Index name → its columns. */
  readonly indexes?: Readonly<Record<string, string>>
}

const CHANGES: readonly Change[] = [
  {
    table: 'workflow_jobs',
    columns: {
      // Time at which the job began to wait for a runner.
      waiting_at: 'bigint',
      // Permissions of the job's token as JSON; null if the file names none.
      permissions: 'varchar(500)',
      // True if the failure of the job cancels the others of the run with its key.
      fails_fast: 'boolean not null default 0',
      // Maximum number of jobs with the key that wait or run; null if there is no limit.
      max_parallel: 'integer',
      // True if a failure of the job counts as a success for the run and for other jobs.
      continues_on_error: 'boolean not null default 0',
    },
    indexes: { workflow_jobs_waiting: 'status, waiting_at' },
  },
  {
    table: 'workflow_runs',
    columns: {
      // Number of the pull request that has started the run, and its branches.
      pull_number: 'bigint',
      head_ref: "varchar(255) not null default ''",
      base_ref: "varchar(255) not null default ''",
      // Commit of the commit statuses, if it is not that of the run.
      reported_commit_id: 'varchar(64)',
      // True if the commit is of a fork: the jobs get no secrets and write nothing.
      is_from_fork: 'boolean not null default 0',
      // Values of the inputs of a dispatch, as JSON; null for other events.
      inputs: 'mediumtext',
      // True until a user who may write to the repository approves the run.
      needs_approval: 'boolean not null default 0',
    },
    indexes: { workflow_runs_by_status: 'repository_id, status' },
  },
  {
    table: 'workflow_events',
    columns: {
      event: "varchar(40) not null default 'push'",
      // Action in the words of workflow files; empty for a push.
      action: "varchar(40) not null default ''",
      pull_number: 'bigint',
    },
  },
]

/**
 * Adds the columns, the indexes and the account of jobs. Jobs that wait have waited since they were
 * created.
 */
export async function up(db: Knex): Promise<void> {
  for (const change of CHANGES) await add(db, change)
  await addJobsUser(db)
  await db('workflow_jobs')
    .where({ status: 'waiting', waiting_at: null })
    .update({ waiting_at: db.ref('created_at') })
}

/** Id and name of the account as which jobs write; the name has a number if it is taken. */
const JOBS_USER = { id: -2, name: 'gitea-actions' }

async function addJobsUser(db: Knex): Promise<void> {
  const { id } = JOBS_USER
  if ((await db('owners').where({ id }).first('id')) === undefined) {
    const taken = await db('owners')
      .where('name_lower', 'like', `${JOBS_USER.name}%`)
      .pluck('name_lower')
    const isFree = (name: string) => !taken.includes(name)
    const names = [JOBS_USER.name, ...taken.map((_, at) => `${JOBS_USER.name}-${at + 2}`)]
    const name = names.find(isFree) ?? `${JOBS_USER.name}-${taken.length + 2}`
    const nowMs = Date.now()
    await db('owners').insert({
      id,
      kind: 'user',
      name,
      name_lower: name,
      full_name: 'Gitea Actions',
      description: '',
      website: '',
      location: '',
      visibility: 'public',
      created_at: nowMs,
      updated_at: nowMs,
    })
  }
  if ((await db('users').where({ owner_id: id }).first('owner_id')) !== undefined) return
  await db('users').insert({
    owner_id: id,
    password_hash: null,
    is_admin: false,
    is_active: true,
    is_login_prohibited: true,
    must_change_password: false,
    language: '',
    last_login_at: null,
  })
}

/** Changes a table. On MySQL this is one statement: a killed process leaves no partial change. */
async function add(db: Knex, { table, columns, indexes = {} }: Change): Promise<void> {
  const [first = ''] = Object.keys(columns)
  if (await db.schema.hasColumn(table, first)) return
  const added = Object.entries(columns).map(([name, type]) => `add column ${name} ${type}`)
  if (isMysql(db)) {
    const keys = Object.entries(indexes).map(([name, on]) => `add index ${name} (${on})`)
    await db.raw(`alter table ${table} ${[...added, ...keys].join(', ')}`)
    return
  }
  for (const clause of added) await db.raw(`alter table ${table} ${clause}`)
  for (const [name, on] of Object.entries(indexes)) {
    await db.raw(`create index ${name} on ${table} (${on})`)
  }
}

/** Drops the indexes, the columns and the account. */
export async function down(db: Knex): Promise<void> {
  await db('owners').where({ id: JOBS_USER.id }).delete()
  for (const { table, columns, indexes = {} } of CHANGES) {
    const [first = ''] = Object.keys(columns)
    if (!(await db.schema.hasColumn(table, first))) continue
    const names = Object.keys(columns)
    if (isMysql(db)) {
      const keys = Object.keys(indexes).map((name) => `drop key ${name}`)
      const dropped = names.map((name) => `drop column ${name}`)
      await db.raw(`alter table ${table} ${[...keys, ...dropped].join(', ')}`)
      continue
    }
    for (const name of Object.keys(indexes)) await db.raw(`drop index ${name}`)
    for (const name of names) await db.raw(`alter table ${table} drop column ${name}`)
  }
}
