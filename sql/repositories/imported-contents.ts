/** Contents that are imported with a repository: labels, milestones, issues, comments, releases. */

import type { Database } from '../database/database.js'
import type { IssueState, OriginalAuthor } from '../issues/issues.js'
import type { NewLabel } from '../issues/labels.js'
import { digestOf } from '../pulls/pulls.js'

/** Contents of an imported repository. */
export interface ImportedContents {
  /** User who becomes the author. */
  readonly authorId: number
  /** Yields all contents from the beginning, on each call. */
  readonly batches: () => AsyncIterable<ImportedBatch>
}

/**
 * Part of the contents. Referenced entries come in earlier batches; ids are those of the source.
 */
export type ImportedBatch =
  | { readonly kind: 'labels'; readonly entries: readonly ImportedLabel[] }
  | { readonly kind: 'milestones'; readonly entries: readonly ImportedMilestone[] }
  | { readonly kind: 'issues'; readonly entries: readonly ImportedIssue[] }
  | { readonly kind: 'comments'; readonly entries: readonly ImportedComment[] }
  | { readonly kind: 'releases'; readonly entries: readonly ImportedRelease[] }

export interface ImportedLabel extends NewLabel {
  readonly id: number
}

interface Times {
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface ImportedMilestone extends Times {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly state: IssueState
  readonly dueAtMs?: number | undefined
  readonly closedAtMs?: number | undefined
}

/** Issue or pull request. Numbers are unique. */
export interface ImportedIssue extends Times {
  readonly number: number
  readonly title: string
  readonly content: string
  readonly originalAuthor: OriginalAuthor
  readonly state: IssueState
  readonly ref: string
  readonly isLocked: boolean
  readonly dueAtMs?: number | undefined
  readonly closedAtMs?: number | undefined
  /** Ids of labels at the source; unknown ids are ignored, as is an unknown milestone. */
  readonly labelIds: readonly number[]
  readonly milestoneId?: number | undefined
  readonly pull?: ImportedPull | undefined
}

export interface ImportedPull {
  /** True if the head is a branch of the same repository. */
  readonly isHeadHere: boolean
  readonly headBranch: string
  readonly baseBranch: string
  readonly headCommit: string
  readonly mergeBase: string
  readonly mergedAtMs?: number | undefined
  readonly mergeCommit?: string | undefined
  readonly allowsMaintainerEdit: boolean
}

/** Comment; ignored if there is no issue with its number. */
export interface ImportedComment extends Times {
  readonly issueNumber: number
  readonly content: string
  readonly originalAuthor: OriginalAuthor
}

/** Release. Tag names are unique. */
export interface ImportedRelease {
  readonly tagName: string
  readonly target: string
  readonly title: string
  readonly body: string
  readonly isDraft: boolean
  readonly isPrerelease: boolean
  readonly createdAtMs: number
  readonly publishedAtMs: number
  readonly attachments: readonly ImportedAttachment[]
}

export interface ImportedAttachment {
  readonly uuid: string
  readonly name: string
  /** Id of the blob in this database. */
  readonly blobId: number
  readonly downloads: number
  readonly createdAtMs: number
}

/** Progress of an import, which runs in one transaction. */
interface ImportProgress {
  readonly trx: Database
  readonly repositoryId: number
  readonly authorId: number
  /** Id at the source → id in this database. */
  readonly labels: Map<number, number>
  readonly milestones: Map<number, number>
  /** Digests of the targets of open pull requests, which must be unique. */
  readonly targets: Set<string>
  lastNumber: number
}

/** Inserts the contents of a repository that was created in this transaction. */
export async function storeContents(
  trx: Database,
  repositoryId: number,
  { authorId, batches }: ImportedContents,
): Promise<void> {
  const maps = { labels: new Map(), milestones: new Map(), targets: new Set<string>() }
  const progress: ImportProgress = { trx, repositoryId, authorId, ...maps, lastNumber: 0 }
  for await (const batch of batches()) await storeBatch(progress, batch)
  if (progress.lastNumber === 0) return
  const numbers = { repository_id: repositoryId, last_number: progress.lastNumber }
  await trx('issue_numbers').insert(numbers)
}

async function storeBatch(progress: ImportProgress, batch: ImportedBatch): Promise<void> {
  switch (batch.kind) {
    case 'labels':
      for (const entry of batch.entries) await storeLabel(progress, entry)
      return
    case 'milestones':
      for (const entry of batch.entries) await storeMilestone(progress, entry)
      return
    case 'issues':
      await storeIssues(progress, batch.entries)
      return
    case 'comments':
      await storeComments(progress, batch.entries)
      return
    case 'releases':
      for (const entry of batch.entries) await storeRelease(progress, entry)
  }
}

async function storeLabel({ trx, repositoryId, labels }: ImportProgress, label: ImportedLabel) {
  const [id] = await trx('labels').insert({
    repository_id: repositoryId,
    organization_id: null,
    name: label.name,
    color: label.color,
    description: label.description,
    is_exclusive: label.isExclusive,
    is_archived: label.isArchived,
    created_at: Date.now(),
  })
  labels.set(label.id, id ?? 0)
}

async function storeMilestone(
  { trx, repositoryId, milestones }: ImportProgress,
  entry: ImportedMilestone,
) {
  const [id] = await trx('milestones').insert({
    repository_id: repositoryId,
    title: entry.title,
    description: entry.description,
    state: entry.state,
    due_at: entry.dueAtMs ?? null,
    closed_at: entry.closedAtMs ?? null,
    created_at: entry.createdAtMs,
    updated_at: entry.updatedAtMs,
  })
  milestones.set(entry.id, id ?? 0)
}

async function storeIssues(
  progress: ImportProgress,
  entries: readonly ImportedIssue[],
): Promise<void> {
  if (entries.length === 0) return
  const { trx, repositoryId, authorId, milestones, labels } = progress
  const targets = entries.map((entry) => holdTargets(progress, entry))
  await trx('issues').insert(
    entries.map((entry, at) => ({
      repository_id: repositoryId,
      number: entry.number,
      is_pull: entry.pull !== undefined,
      title: entry.title,
      content: entry.content,
      author_id: authorId,
      ref: entry.ref,
      state: targets[at] === 'taken' ? 'closed' : entry.state,
      milestone_id: milestones.get(entry.milestoneId ?? 0) ?? null,
      due_at: entry.dueAtMs ?? null,
      is_locked: entry.isLocked,
      created_at: entry.createdAtMs,
      updated_at: entry.updatedAtMs,
      closed_at: entry.closedAtMs ?? (targets[at] === 'taken' ? entry.updatedAtMs : null),
      original_author: entry.originalAuthor.name,
      original_author_id: entry.originalAuthor.id,
    })),
  )
  const ids = await idsOf(
    progress,
    entries.map(({ number }) => number),
  )
  const links = entries.flatMap(({ number, labelIds }) => {
    const known = new Set(labelIds.flatMap((id) => labels.get(id) ?? []))
    return [...known].map((label_id) => ({ issue_id: ids.get(number) ?? 0, label_id }))
  })
  await insertMany(trx, 'issue_labels', links)
  const pulls = entries.flatMap(({ number, pull }, at) =>
    pull === undefined ? [] : [pullRow(progress, pull, [ids.get(number) ?? 0, targets[at]])],
  )
  await insertMany(trx, 'pulls', pulls)
  progress.lastNumber = Math.max(progress.lastNumber, ...entries.map(({ number }) => number))
}

/**
 * Reserves the targets of an open pull request. A second one for the same branches is imported as
 * closed.
 */
function holdTargets({ repositoryId, targets }: ImportProgress, { state, pull }: ImportedIssue) {
  if (state !== 'open' || pull === undefined || !pull.isHeadHere) return undefined
  const { headBranch, baseBranch } = pull
  const branches = { headRepositoryId: repositoryId, headBranch, baseBranch }
  const digest = digestOf({ repositoryId, ...branches })
  if (targets.has(digest)) return 'taken'
  targets.add(digest)
  return digest
}

function pullRow(
  { repositoryId }: ImportProgress,
  pull: ImportedPull,
  [issueId, targets]: readonly [number, string | undefined],
) {
  return {
    issue_id: issueId,
    repository_id: repositoryId,
    head_repository_id: pull.isHeadHere ? repositoryId : null,
    head_branch: pull.headBranch,
    base_branch: pull.baseBranch,
    head_commit: pull.headCommit,
    merge_base: pull.mergeBase,
    open_targets: targets === undefined || targets === 'taken' ? null : targets,
    merged_at: pull.mergedAtMs ?? null,
    merged_by: null,
    merge_commit: pull.mergeCommit ?? null,
    allow_maintainer_edit: pull.allowsMaintainerEdit,
    checked_base: '',
    checked_head: '',
    is_mergeable: false,
  }
}

/** Returns the ids of issues by number; missing issues are left out. */
async function idsOf(
  { trx, repositoryId }: ImportProgress,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows: ReadonlyArray<{ id: number; number: number }> = await trx('issues')
    .where({ repository_id: repositoryId })
    .whereIn('number', [...new Set(numbers)])
    .select('id', 'number')
  return new Map(rows.map(({ id, number }) => [number, id]))
}

async function storeComments(
  progress: ImportProgress,
  entries: readonly ImportedComment[],
): Promise<void> {
  const ids = await idsOf(
    progress,
    entries.map(({ issueNumber }) => issueNumber),
  )
  const rows = entries.flatMap((entry) => {
    const id = ids.get(entry.issueNumber)
    if (id === undefined) return []
    return [
      {
        issue_id: id,
        author_id: progress.authorId,
        content: entry.content,
        created_at: entry.createdAtMs,
        updated_at: entry.updatedAtMs,
        original_author: entry.originalAuthor.name,
        original_author_id: entry.originalAuthor.id,
      },
    ]
  })
  await insertMany(progress.trx, 'comments', rows)
}

async function storeRelease(progress: ImportProgress, entry: ImportedRelease): Promise<void> {
  const { trx, repositoryId, authorId } = progress
  const [id] = await trx('releases').insert({
    repository_id: repositoryId,
    tag_name: entry.tagName,
    target: entry.target,
    title: entry.title,
    body: entry.body,
    tag_message: '',
    is_draft: entry.isDraft,
    is_prerelease: entry.isPrerelease,
    author_id: authorId,
    created_at: entry.createdAtMs,
    published_at: entry.publishedAtMs,
  })
  const rows = entry.attachments.map((attachment) => ({
    uuid: attachment.uuid,
    release_id: id ?? 0,
    name: attachment.name,
    blob_id: attachment.blobId,
    downloads: attachment.downloads,
    created_at: attachment.createdAtMs,
  }))
  await insertMany(trx, 'attachments', rows)
}

const ROWS_PER_INSERT = 50

async function insertMany(trx: Database, table: string, rows: readonly object[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT) {
    await trx(table).insert(rows.slice(at, at + ROWS_PER_INSERT))
  }
}
