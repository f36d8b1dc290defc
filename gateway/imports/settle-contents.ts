/** Adaptation of fetched pull requests and releases to the commits and tags that git fetched. */

import type { Journal } from '../../cgi/maintenance/journal.js'
import { findMergeBase } from '../../cgi/objects/commit-range.js'
import type { ObjectReader } from '../../cgi/objects/objects.js'
import { withObjects } from '../../cgi/objects/with-objects.js'
import type { Git } from '../../cgi/process/git.js'
import { keepPullHeads } from '../../cgi/refs/pull-heads.js'
import type {
  ImportedBatch,
  ImportedIssue,
  ImportedPull,
  ImportedRelease,
} from '../../sql/repositories/imported-contents.js'
import { branchReference, pullReference } from '../actions/pulls/refresh-pulls.js'
import type { Spool } from './spool.js'

export interface Settling {
  readonly git: Git
  readonly journal: Journal
  /** Path of the fetched repository. */
  readonly path: string
  readonly from: Spool
  readonly to: Spool
}

/** Copies all contents. Pull requests and releases are adapted to the repository. */
export async function settleContents(settling: Settling): Promise<void> {
  const { git, journal, path, from, to } = settling
  await keepPullHeads(git, path, { journal, numbers: await pullNumbers(from) })
  for await (const batch of from.oldestFirst()) await to.append(await settled(settling, batch))
}

async function pullNumbers(from: Spool): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>()
  for await (const batch of from.batches()) {
    if (batch.kind !== 'issues') continue
    for (const { number, pull } of batch.entries) if (pull !== undefined) numbers.add(number)
  }
  return numbers
}

async function settled(settling: Settling, batch: ImportedBatch): Promise<ImportedBatch> {
  const { git, path } = settling
  const isOfGit =
    batch.kind === 'releases' || (batch.kind === 'issues' && batch.entries.some(({ pull }) => pull))
  if (!isOfGit) return batch
  return await withObjects(git, path, async (objects): Promise<ImportedBatch> => {
    if (batch.kind === 'releases') {
      const entries = batch.entries.map((release) => settledRelease(objects, release))
      return { ...batch, entries: await Promise.all(entries) }
    }
    const entries: ImportedIssue[] = []
    for (const issue of batch.entries) {
      const { pull } = issue
      entries.push(pull === undefined ? issue : await settledPull(settling, objects, issue, pull))
    }
    return { ...batch, entries }
  })
}

/** Converts a release without its tag to a draft, as Gitea does if a tag is deleted. */
async function settledRelease(
  objects: ObjectReader,
  release: ImportedRelease,
): Promise<ImportedRelease> {
  if (release.isDraft) return release
  const tag = await objects.read(`refs/tags/${release.tagName}`, 0)
  return tag === undefined ? { ...release, isDraft: true } : release
}

/**
 * Adapts a pull request. If its head commit is missing, it becomes closed and without changes; if
 * the repository has no usable commit at all, it becomes a closed issue.
 */
async function settledPull(
  { git, path }: Settling,
  objects: ObjectReader,
  issue: ImportedIssue,
  pull: ImportedPull,
): Promise<ImportedIssue> {
  const commit = async (name: string | undefined) => {
    const found = name ? await objects.read(`${name}^{commit}`, 0) : undefined
    return found?.type === 'commit' ? found.id : undefined
  }
  const mergeCommit = await commit(pull.mergeCommit)
  const head =
    (await commit(pullReference(issue.number))) ?? (await commit(pull.headCommit)) ?? mergeCommit
  const givenBase = await commit(pull.mergeBase)
  const base = (await commit(branchReference(pull.baseBranch))) ?? (await commit('HEAD'))
  const headCommit = head ?? givenBase ?? base
  const isClosed = issue.state === 'closed' || head === undefined
  const closedAtMs = isClosed ? (issue.closedAtMs ?? issue.updatedAtMs) : undefined
  const state = isClosed ? 'closed' : 'open'
  if (headCommit === undefined) return { ...issue, state, closedAtMs, pull: undefined }
  const mergeBase = givenBase ?? (head && base && (await findMergeBase(git, path, [base, head])))
  return {
    ...issue,
    state,
    closedAtMs,
    pull: { ...pull, headCommit, mergeBase: mergeBase ?? headCommit, mergeCommit },
  }
}
