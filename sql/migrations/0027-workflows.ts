/** Tables of workflow automation: events, runs, jobs, tasks, logs and runners. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

const REPOSITORY = 'foreign key (repository_id) references repositories (id) on delete cascade'
const OWNER = 'foreign key (owner_id) references owners (id) on delete cascade'
const STATUSES = `('blocked', 'waiting', 'running', 'cancelling', 'success', 'failure', 'cancelled',
  'skipped')`

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createRunTables(db)
  await createRunnerTables(db)
  await createTaskTables(db)
}

async function createRunTables(db: Knex): Promise<void> {
  await createTable(db, 'workflow_events', {
    lines: [
      ID,
      'repository_id bigint not null',
      // SHA-256 of the key of the push and the name of the ref, in hexadecimal.
      'event_key char(64) not null',
      'ref varchar(255) not null',
      'before_id varchar(64)',
      'after_id varchar(64) not null',
      'actor_id bigint',
      'created_at bigint not null',
      'constraint workflow_events_key unique (event_key)',
      `constraint workflow_events_repository ${REPOSITORY}`,
    ],
    indexes: { workflow_events_by_repository: 'repository_id' },
  })
  await createTable(db, 'workflow_runs', {
    lines: [
      ID,
      'repository_id bigint not null',
      'number bigint not null',
      'event_key char(64) not null',
      'workflow_file varchar(255) not null',
      'workflow_name varchar(255) not null',
      'title varchar(255) not null',
      'event varchar(40) not null',
      // Payload of the event as JSON.
      'payload mediumtext not null',
      'ref varchar(255) not null',
      'commit_id varchar(64) not null',
      'actor_id bigint',
      `status varchar(10) not null check (status in ${STATUSES})`,
      // Reason why there are no jobs; empty if there are.
      'fault text not null',
      'created_at bigint not null',
      'started_at bigint',
      'stopped_at bigint',
      'constraint workflow_runs_number unique (repository_id, number)',
      'constraint workflow_runs_event unique (repository_id, event_key, workflow_file)',
      `constraint workflow_runs_repository ${REPOSITORY}`,
    ],
    indexes: { workflow_runs_by_commit: 'repository_id, commit_id' },
  })
  await createTable(db, 'workflow_jobs', {
    lines: [
      ID,
      'run_id bigint not null',
      'position integer not null',
      'job_key varchar(100) not null',
      'name varchar(255) not null',
      // Keys of the jobs that must end before, labels, and names of the steps, as JSON.
      'needs text not null',
      'labels text not null',
      'step_names mediumtext not null',
      // Value of `if`; null if there is none.
      'job_condition mediumtext',
      // Workflow with this one job, as the runner gets it.
      'payload mediumtext not null',
      `status varchar(10) not null check (status in ${STATUSES})`,
      // The last task of the job.
      'task_id bigint',
      'reason text not null',
      'created_at bigint not null',
      'started_at bigint',
      'stopped_at bigint',
      'constraint workflow_jobs_position unique (run_id, position)',
      'constraint workflow_jobs_run foreign key (run_id) references workflow_runs (id) on delete cascade',
    ],
    indexes: { workflow_jobs_by_status: 'status, id' },
  })
}

async function createRunnerTables(db: Knex): Promise<void> {
  await createTable(db, 'runners', {
    lines: [
      ID,
      'uuid char(36) not null',
      'name varchar(255) not null',
      // Owner or repository of the jobs that the runner takes; a runner of the site has neither.
      'owner_id bigint',
      'repository_id bigint',
      // SHA-256 of the runner's token, in hexadecimal.
      'token_hash char(64) not null',
      'labels mediumtext not null',
      'version varchar(255) not null',
      'is_ephemeral boolean not null',
      'created_at bigint not null',
      'last_seen_at bigint',
      'constraint runners_uuid unique (uuid)',
      `constraint runners_owner ${OWNER}`,
      `constraint runners_repository ${REPOSITORY}`,
    ],
    indexes: { runners_by_owner: 'owner_id', runners_by_repository: 'repository_id' },
  })
  await createTable(db, 'runner_registration_tokens', {
    lines: [
      ID,
      'hash char(64) not null',
      'owner_id bigint',
      'repository_id bigint',
      // True if the token is deleted by its first use.
      'is_once boolean not null',
      'created_at bigint not null',
      'expires_at bigint',
      'constraint runner_registration_tokens_hash unique (hash)',
      `constraint runner_registration_tokens_owner ${OWNER}`,
      `constraint runner_registration_tokens_repository ${REPOSITORY}`,
    ],
    indexes: {
      runner_registration_tokens_by_owner: 'owner_id',
      runner_registration_tokens_by_repository: 'repository_id',
    },
  })
}

async function createTaskTables(db: Knex): Promise<void> {
  await createTable(db, 'workflow_tasks', {
    lines: [
      ID,
      'job_id bigint not null',
      'repository_id bigint not null',
      'runner_id bigint',
      // SHA-256 of the job token, in hexadecimal.
      'token_hash char(64) not null',
      // States of the steps as JSON.
      'steps mediumtext not null',
      'log_rows bigint not null',
      'log_bytes bigint not null',
      'is_log_closed boolean not null',
      'claimed_at bigint not null',
      'heard_at bigint not null',
      'stopped_at bigint',
      'constraint workflow_tasks_token unique (token_hash)',
      'constraint workflow_tasks_job foreign key (job_id) references workflow_jobs (id) on delete cascade',
      'constraint workflow_tasks_runner foreign key (runner_id) references runners (id) on delete set null',
      `constraint workflow_tasks_repository ${REPOSITORY}`,
    ],
    indexes: {
      workflow_tasks_by_job: 'job_id',
      workflow_tasks_by_runner: 'runner_id, stopped_at',
      workflow_tasks_by_repository: 'repository_id',
      workflow_tasks_heard: 'stopped_at, heard_at',
    },
  })
  await createTable(db, 'workflow_log_parts', {
    lines: [
      'task_id bigint not null',
      'first_row bigint not null',
      'row_count integer not null',
      // Rows as JSON, compressed with gzip.
      'content mediumblob not null',
      'primary key (task_id, first_row)',
      'constraint workflow_log_parts_task foreign key (task_id) references workflow_tasks (id) on delete cascade',
    ],
  })
  await createTable(db, 'workflow_outputs', {
    lines: [
      'task_id bigint not null',
      'name varchar(255) not null',
      'value mediumtext not null',
      'primary key (task_id, name)',
      'constraint workflow_outputs_task foreign key (task_id) references workflow_tasks (id) on delete cascade',
    ],
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  const tables = ['workflow_outputs', 'workflow_log_parts', 'workflow_tasks']
  const others = ['runner_registration_tokens', 'runners', 'workflow_jobs', 'workflow_runs']
  for (const table of [...tables, ...others, 'workflow_events']) {
    await db.schema.dropTableIfExists(table)
  }
}
