/** Labels of a repository, or of an organization for all of its repositories. */

import type { Knex } from 'knex'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orNotFound } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** Repository or organization that has the label. */
export type LabelOwner = { readonly repositoryId: number } | { readonly organizationId: number }

export interface Label {
  readonly id: number
  readonly owner: LabelOwner
  readonly name: string
  /** Six hexadecimal digits. */
  readonly color: string
  readonly description: string
  /** True if the label excludes others with the same `scope/` prefix from an issue. */
  readonly isExclusive: boolean
  readonly isArchived: boolean
}

export type NewLabel = Omit<Label, 'id' | 'owner'>

/** Changes to a label; absent fields keep their value. */
export type LabelPatch = { readonly [K in keyof NewLabel]?: NewLabel[K] | undefined }

/**
 * Creates a label. Names need not be unique, as in Gitea. Throws `not_found` if the owner does not
 * exist.
 */
export async function createLabel(
  db: Database,
  owner: LabelOwner,
  label: NewLabel,
): Promise<Label> {
  const [id] = await orNotFound('The owner of the label does not exist.', () =>
    db('labels').insert({
      ...columnsOfOwner(owner),
      name: label.name,
      color: label.color,
      description: label.description,
      is_exclusive: label.isExclusive,
      is_archived: label.isArchived,
      created_at: Date.now(),
    }),
  )
  if (id === undefined) throw new Error('The insert returned no id.')
  return { ...label, id, owner }
}

function columnsOfOwner(owner: LabelOwner) {
  return 'repositoryId' in owner
    ? { repository_id: owner.repositoryId, organization_id: null }
    : { repository_id: null, organization_id: owner.organizationId }
}

/** Returns a label of that owner by its id. */
export async function findLabel(
  db: Database,
  owner: LabelOwner,
  labelId: number,
): Promise<Label | undefined> {
  const { sql, binding } = conditionOf(owner)
  const [found] = await selectLabels(db, `where l.id = ? and ${sql}`, [labelId, binding])
  return found
}

/** Returns the labels of that owner, ordered by name. */
export async function listLabels(
  db: Database,
  owner: LabelOwner,
  page: Page,
): Promise<Paged<Label>> {
  const { sql, binding } = conditionOf(owner)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from labels l where ${sql}`,
    [binding],
  )
  const entries = await selectLabels(db, `where ${sql} order by l.name, l.id limit ? offset ?`, [
    binding,
    page.limit,
    offsetOf(page),
  ])
  return { entries, total: count?.total ?? 0 }
}

function conditionOf(owner: LabelOwner): { readonly sql: string; readonly binding: number } {
  return 'repositoryId' in owner
    ? { sql: 'l.repository_id = ?', binding: owner.repositoryId }
    : { sql: 'l.organization_id = ?', binding: owner.organizationId }
}

/**
 * Changes a label of that owner. Returns the changed label, or undefined if there is no such label.
 */
export async function updateLabel(
  db: Database,
  owner: LabelOwner,
  { id, ...patch }: LabelPatch & { readonly id: number },
): Promise<Label | undefined> {
  const columns = {
    name: patch.name,
    color: patch.color,
    description: patch.description,
    is_exclusive: patch.isExclusive,
    is_archived: patch.isArchived,
  }
  const given = Object.entries(columns).filter(([, value]) => value !== undefined)
  return await transaction(db, async (trx) => {
    if (given.length > 0) {
      await trx('labels')
        .where({ id, ...columnsOfOwner(owner) })
        .update(Object.fromEntries(given) as Record<string, Knex.Value>)
    }
    return await findLabel(trx, owner, id)
  })
}

/** Deletes a label and removes it from all issues. Returns false if the owner has no such label. */
export async function deleteLabel(
  db: Database,
  owner: LabelOwner,
  labelId: number,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const where = { id: labelId, ...columnsOfOwner(owner) }
    return (await trx('labels').where(where).delete()) > 0
  })
}

const LABEL_COLUMNS = `l.id, l.repository_id, l.organization_id, l.name, l.color, l.description,
  l.is_exclusive, l.is_archived`

async function selectLabels(
  db: Database,
  condition: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly Label[]> {
  const rows = await selectRows<LabelRow>(
    db,
    `select ${LABEL_COLUMNS} from labels l ${condition}`,
    bindings,
  )
  return rows.map(labelOf)
}

/**
 * Returns the labels with these ids or names that issues of a repository can have: those of the
 * repository and of its organization.
 */
export async function findUsableLabels(
  db: Database,
  repositoryId: number,
  named: readonly (number | string)[],
): Promise<readonly Label[]> {
  if (named.length === 0) return []
  const ids = named.filter((name) => typeof name === 'number')
  const names = named.filter((name) => typeof name === 'string')
  const conditions = [
    ...(ids.length > 0 ? [`l.id in (${ids.map(() => '?').join()})`] : []),
    ...(names.length > 0 ? [`l.name in (${names.map(() => '?').join()})`] : []),
  ]
  return await selectLabels(
    db,
    `where (${conditions.join(' or ')}) and (l.repository_id = ?
       or l.organization_id = (select owner_id from repositories where id = ?)) order by l.id`,
    [...ids, ...names, repositoryId, repositoryId],
  )
}

/** Returns the labels of each issue, ordered by name. */
export async function labelsOfIssues(
  db: Database,
  issueIds: readonly number[],
): Promise<ReadonlyMap<number, readonly Label[]>> {
  const labels = new Map<number, Label[]>()
  if (issueIds.length === 0) return labels
  const rows = await selectRows<LabelRow & { readonly issue_id: number }>(
    db,
    `select x.issue_id, ${LABEL_COLUMNS} from issue_labels x join labels l on l.id = x.label_id
      where x.issue_id in (${issueIds.map(() => '?').join()}) order by l.name, l.id`,
    issueIds,
  )
  for (const row of rows) {
    labels.set(row.issue_id, [...(labels.get(row.issue_id) ?? []), labelOf(row)])
  }
  return labels
}

interface LabelRow {
  readonly id: number
  readonly repository_id: number | null
  readonly organization_id: number | null
  readonly name: string
  readonly color: string
  readonly description: string
  readonly is_exclusive: number
  readonly is_archived: number
}

function labelOf(row: LabelRow): Label {
  return {
    id: row.id,
    owner:
      row.repository_id === null
        ? { organizationId: row.organization_id ?? 0 }
        : { repositoryId: row.repository_id },
    name: row.name,
    color: row.color,
    description: row.description,
    isExclusive: row.is_exclusive === 1,
    isArchived: row.is_archived === 1,
  }
}
