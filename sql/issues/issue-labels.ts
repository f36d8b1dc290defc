/** Labels of an issue. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { recordIssueEvents } from './issue-events.js'
import { findUsableLabels, type Label, labelsOfIssues } from './labels.js'

/** Issue with the repository whose labels it can have. */
export interface LabelledIssue {
  readonly id: number
  readonly repositoryId: number
  /** Account that changes the labels. */
  readonly actorId?: number | undefined
}

/**
 * Adds labels to an issue, by id or name, and removes the labels that these exclude. Throws
 * `invalid` for a label that this repository does not have.
 */
export async function addIssueLabels(
  db: Database,
  issue: LabelledIssue,
  named: readonly (number | string)[],
): Promise<void> {
  if (named.length === 0) return
  await transaction(db, async (trx) => {
    const added = withoutExcluded(await usableLabels(trx, issue, named))
    const held = (await labelsOfIssues(trx, [issue.id])).get(issue.id) ?? []
    const excluded = held.filter((label) => added.some((other) => excludes(other, label)))
    await removeLinks(trx, issue, excluded)
    await insertLinks(trx, issue, without(added, held))
  })
}

/** Replaces the labels of an issue. Throws `invalid` like `addIssueLabels`. */
export async function replaceIssueLabels(
  db: Database,
  issue: LabelledIssue,
  named: readonly (number | string)[],
): Promise<void> {
  await transaction(db, async (trx) => {
    const labels = withoutExcluded(await usableLabels(trx, issue, named))
    const held = (await labelsOfIssues(trx, [issue.id])).get(issue.id) ?? []
    await removeLinks(trx, issue, without(held, labels))
    await insertLinks(trx, issue, without(labels, held))
  })
}

function without(labels: readonly Label[], others: readonly Label[]): readonly Label[] {
  const ids = new Set(others.map(({ id }) => id))
  return labels.filter(({ id }) => !ids.has(id))
}

/** Removes a label from an issue. Returns false if the issue does not have it. */
export async function removeIssueLabel(
  db: Database,
  issue: Omit<LabelledIssue, 'repositoryId'>,
  labelId: number,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const where = { issue_id: issue.id, label_id: labelId }
    const isRemoved = (await trx('issue_labels').where(where).delete()) > 0
    if (isRemoved) await recordIssueEvents(trx, [labelEvent(issue, labelId, '')])
    return isRemoved
  })
}

/** Returns the event of a label; its text is `1` if the label was added. */
function labelEvent(
  { id, actorId }: Omit<LabelledIssue, 'repositoryId'>,
  labelId: number,
  body: '1' | '',
) {
  return { issueId: id, actorId, kind: 'label' as const, details: { labelId, body } }
}

async function usableLabels(
  trx: Database,
  issue: LabelledIssue,
  named: readonly (number | string)[],
): Promise<readonly Label[]> {
  // The row lock serializes concurrent changes to the labels of one issue.
  await trx('issues').where({ id: issue.id }).forUpdate().first('id')
  const labels = await findUsableLabels(trx, issue.repositoryId, named)
  for (const wanted of named) {
    const isThere = labels.some(({ id, name }) => wanted === id || wanted === name)
    if (!isThere) throw new Failure('invalid', `The label ${wanted} does not exist.`)
  }
  return labels
}

/** Returns the labels, only the last one of those that exclude each other. */
function withoutExcluded(labels: readonly Label[]): readonly Label[] {
  return labels.filter((label, at) => !labels.slice(at + 1).some((later) => excludes(later, label)))
}

function excludes(label: Label, other: Label): boolean {
  const scope = scopeOf(label)
  return label.id !== other.id && scope !== '' && scope === scopeOf(other)
}

/** Returns the part of an exclusive label before its last slash; empty if it excludes no others. */
function scopeOf({ name, isExclusive }: Label): string {
  const at = name.lastIndexOf('/')
  return isExclusive && at > 0 && at < name.length - 1 ? name.slice(0, at) : ''
}

async function insertLinks(
  trx: Database,
  issue: LabelledIssue,
  labels: readonly Label[],
): Promise<void> {
  if (labels.length === 0) return
  await trx('issue_labels').insert(
    labels.map((label) => ({ issue_id: issue.id, label_id: label.id })),
  )
  await recordIssueEvents(
    trx,
    labels.map((label) => labelEvent(issue, label.id, '1')),
  )
}

async function removeLinks(
  trx: Database,
  issue: LabelledIssue,
  labels: readonly Label[],
): Promise<void> {
  if (labels.length === 0) return
  const ids = labels.map((label) => label.id)
  await trx('issue_labels').where({ issue_id: issue.id }).whereIn('label_id', ids).delete()
  await recordIssueEvents(
    trx,
    ids.map((id) => labelEvent(issue, id, '')),
  )
}
