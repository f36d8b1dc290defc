/** Topics of repositories. */

import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { repositoriesVisibleTo, type Viewer } from './visibility.js'

export interface Topic {
  readonly id: number
  readonly name: string
  /** Number of repositories with this topic that the viewer can see. */
  readonly repositories: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Replaces the topics of a repository. */
export async function setTopics(
  db: Database,
  repositoryId: number,
  names: readonly string[],
): Promise<void> {
  await transaction(db, async (trx) => {
    await trx('repository_topics').where({ repository_id: repositoryId }).delete()
    for (const name of [...names].sort()) await addTopic(trx, repositoryId, name)
  })
}

/** Adds a topic to a repository, if it does not have it already. */
export async function addTopic(db: Database, repositoryId: number, name: string): Promise<void> {
  const nowMs = Date.now()
  await transaction(db, async (trx) => {
    const known = { name, created_at: nowMs, updated_at: nowMs }
    await trx('topics').insert(known).onConflict('name').merge(['updated_at'])
    const topic: { id: number } | undefined = await trx('topics').where({ name }).first('id')
    if (topic === undefined) throw new Error('The inserted topic was not found.')
    await trx('repository_topics')
      .insert({ repository_id: repositoryId, topic_id: topic.id })
      .onConflict(['repository_id', 'topic_id'])
      .ignore()
  })
}

/** Removes a topic from a repository. Returns false if the repository does not have it. */
export async function removeTopic(
  db: Database,
  repositoryId: number,
  name: string,
): Promise<boolean> {
  const topic: { id: number } | undefined = await db('topics').where({ name }).first('id')
  if (topic === undefined) return false
  const place = { repository_id: repositoryId, topic_id: topic.id }
  return (await db('repository_topics').where(place).delete()) > 0
}

/**
 * Returns the topics that contain `text`, of repositories that `viewer` can see, most used first.
 */
export async function searchTopics(
  db: Database,
  { viewer, text }: { readonly viewer: Viewer; readonly text: string },
  page: Page,
): Promise<Paged<Topic>> {
  const seen = repositoriesVisibleTo(viewer)
  const from = `from topics p join repository_topics l on l.topic_id = p.id
    join repositories r on r.id = l.repository_id join owners o on o.id = r.owner_id
    where ${seen.where} and instr(p.name, ?) > 0`
  const bindings = [...seen.bindings, text]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(distinct p.id) as total ${from}`,
    bindings,
  )
  const rows = await selectRows<TopicRow>(
    db,
    `select p.id as id, p.name as name, p.created_at as created_at, p.updated_at as updated_at,
      count(*) as repositories ${from} group by p.id, p.name, p.created_at, p.updated_at
      order by count(*) desc, p.name limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(topicOf), total: count?.total ?? 0 }
}

interface TopicRow {
  readonly id: number
  readonly name: string
  readonly created_at: number
  readonly updated_at: number
  readonly repositories: number
}

function topicOf({ created_at, updated_at, ...row }: TopicRow): Topic {
  return { ...row, createdAtMs: created_at, updatedAtMs: updated_at }
}
