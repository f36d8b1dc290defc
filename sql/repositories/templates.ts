/** Repositories that are created from templates. */

import { type Database, transaction } from '../database/database.js'
import { copyLfsObjects } from './lfs-objects.js'
import { createRepository, type NewRepository, type Repository } from './repositories.js'

export interface TemplateOptions {
  readonly templateId: number
  /** True to copy the LFS objects, because the repository has the template's files. */
  readonly hasContent: boolean
  readonly hasTopics: boolean
  readonly hasLabels: boolean
}

/**
 * Creates a repository with the chosen data of its template. Throws `conflict` if its owner has a
 * repository with that name.
 */
export async function createFromTemplate(
  db: Database,
  repository: NewRepository,
  { templateId, hasContent, hasTopics, hasLabels }: TemplateOptions,
): Promise<Repository> {
  return await transaction(db, async (trx) => {
    const created = await createRepository(trx, repository)
    const bindings = [created.id, templateId]
    if (hasContent) await copyLfsObjects(trx, { fromId: templateId, toId: created.id })
    if (hasTopics) await trx.raw(COPY_TOPICS, bindings)
    if (hasLabels) await trx.raw(COPY_LABELS, [created.id, created.createdAtMs, templateId])
    return created
  })
}

const COPY_TOPICS = `insert into repository_topics (repository_id, topic_id)
  select ?, topic_id from repository_topics where repository_id = ?`

const COPY_LABELS = `insert into labels (repository_id, name, color, description, is_exclusive,
    is_archived, created_at)
  select ?, name, color, description, is_exclusive, is_archived, ?
    from labels where repository_id = ? order by id`
