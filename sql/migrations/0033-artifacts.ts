/** Tables of artifacts: files that the jobs of a workflow run store. */

import type { Knex } from 'knex'
import { createTable, ID } from '../database/dialect.js'

const ARTIFACT = 'foreign key (artifact_id) references workflow_artifacts (id) on delete cascade'
const BLOB = 'foreign key (blob_id) references blobs (id)'

/** Creates the tables. */
export async function up(db: Knex): Promise<void> {
  await createTable(db, 'workflow_artifacts', {
    lines: [
      ID,
      'repository_id bigint not null',
      'run_id bigint not null',
      // Attempt of the run.
      'attempt integer not null',
      'job_id bigint not null',
      'task_id bigint not null',
      // Version of the protocol of the upload.
      'version integer not null check (version in (3, 4))',
      'name varchar(255) not null',
      // The name, if the artifact is complete; null before, so that uploads do not conflict.
      'complete_name varchar(255)',
      // Size of the files and of the parts.
      'bytes bigint not null',
      'created_at bigint not null',
      'expires_at bigint not null',
      'constraint workflow_artifacts_name unique (run_id, attempt, complete_name)',
      'constraint workflow_artifacts_repository foreign key (repository_id) references repositories (id) on delete cascade',
      'constraint workflow_artifacts_run foreign key (run_id) references workflow_runs (id) on delete cascade',
    ],
    indexes: {
      workflow_artifacts_by_repository: 'repository_id, id',
      // The size of all artifacts of a repository is read from this index alone.
      workflow_artifacts_by_size: 'repository_id, bytes',
      workflow_artifacts_by_job: 'job_id',
      workflow_artifacts_by_expiry: 'expires_at',
      workflow_artifacts_by_completion: 'complete_name, id',
    },
  })
  await createTable(db, 'workflow_artifact_files', {
    lines: [
      ID,
      'artifact_id bigint not null',
      // Empty for the only file of an artifact, which is a zip archive.
      'path varchar(600) not null',
      'blob_id bigint not null',
      // True if the client has compressed the file with gzip.
      'is_gzip boolean not null',
      'constraint workflow_artifact_files_path unique (artifact_id, path)',
      `constraint workflow_artifact_files_artifact ${ARTIFACT}`,
      `constraint workflow_artifact_files_blob ${BLOB}`,
    ],
    indexes: { workflow_artifact_files_by_blob: 'blob_id' },
  })
  await createTable(db, 'workflow_artifact_parts', {
    lines: [
      ID,
      'artifact_id bigint not null',
      // Path of the file to which the part belongs.
      'path varchar(600) not null',
      // Name that the client has given to the part, or its offset within the file.
      'name varchar(100) not null',
      'blob_id bigint not null',
      'constraint workflow_artifact_parts_name unique (artifact_id, path, name)',
      `constraint workflow_artifact_parts_artifact ${ARTIFACT}`,
      `constraint workflow_artifact_parts_blob ${BLOB}`,
    ],
    indexes: { workflow_artifact_parts_by_blob: 'blob_id' },
  })
}

/** Drops the tables. */
export async function down(db: Knex): Promise<void> {
  await db.schema.dropTableIfExists('workflow_artifact_parts')
  await db.schema.dropTableIfExists('workflow_artifact_files')
  await db.schema.dropTableIfExists('workflow_artifacts')
}
