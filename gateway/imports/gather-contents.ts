/** Fetching of a repository's contents (apart from Git data) from another Gitea into a spool. */

import { randomUUID } from 'node:crypto'
import type { Static } from 'typebox'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { isFailure } from '../../conf/failures.js'
import { parseFileName } from '../../conf/names.js'
import { keepForImport, receiveAttachment } from '../../registry/attachments.js'
import type { ReceivedFile } from '../../registry/received-file.js'
import type { Registry } from '../../registry/registry.js'
import type { ImportedAttachment, ImportedIssue } from '../../sql/repositories/imported-contents.js'
import type { GiteaApi } from './gitea-api.js'
import {
  GITEA_COMMENT,
  GITEA_ISSUE,
  GITEA_LABEL,
  GITEA_MILESTONE,
  GITEA_PULL,
  GITEA_RELEASE,
  GITEA_REPOSITORY,
  type GiteaAsset,
  importedComment,
  importedIssue,
  importedLabel,
  importedMilestone,
  importedPull,
  importedRelease,
  named,
  timeOf,
} from './gitea-objects.js'
import type { Spool } from './spool.js'

/** Kinds of contents to fetch. */
export interface ContentsInput {
  readonly labels: boolean
  readonly milestones: boolean
  readonly issues: boolean
  readonly pulls: boolean
  readonly releases: boolean
}

export interface Gathering {
  readonly api: GiteaApi
  readonly spool: Spool
  readonly registry: Registry
  readonly importId: number
  readonly input: ContentsInput
  /** Limits of the size of one release file, and of all together. */
  readonly fileBytesMax: number
  readonly filesBytesMax: number
}

/** Fetches the selected contents that the source has; each refers only to contents before it. */
export async function gatherContents(gathering: Gathering): Promise<void> {
  const { api, input } = gathering
  const has = await api.get('', GITEA_REPOSITORY)
  const labels = input.labels ? await gatherLabels(gathering) : undefined
  if (input.milestones) await gatherMilestones(gathering)
  const [hasIssues, hasPulls] = [has.has_issues !== false, has.has_pull_requests !== false]
  const issues: IssueGathering = { ...gathering, labels, numbers: new Set() }
  if (input.issues && hasIssues) await gatherIssues(issues)
  if (input.pulls && hasPulls) await gatherPulls(issues)
  if (issues.numbers.size > 0) await gatherComments(issues)
  if (input.releases && has.has_releases !== false) await gatherReleases(gathering)
}

/** Fetches the repository's labels and returns their ids. */
async function gatherLabels({ api, spool }: Gathering): Promise<Set<number>> {
  const ids = new Set<number>()
  for await (const page of api.pages('/labels', GITEA_LABEL)) {
    await spool.append({ kind: 'labels', entries: page.map(importedLabel) })
    for (const { id } of page) ids.add(id)
  }
  return ids
}

async function gatherMilestones({ api, spool }: Gathering): Promise<void> {
  for await (const page of api.pages('/milestones?state=all', GITEA_MILESTONE)) {
    await spool.append({ kind: 'milestones', entries: page.map(importedMilestone) })
  }
}

interface IssueGathering extends Gathering {
  /** Ids of the labels so far; undefined if labels are not imported. */
  readonly labels: Set<number> | undefined
  /** Numbers of the issues and pull requests so far. */
  readonly numbers: Set<number>
}

async function gatherIssues(gathering: IssueGathering): Promise<void> {
  const path = '/issues?state=all&type=issues'
  for await (const page of gathering.api.pages(path, GITEA_ISSUE)) {
    await appendIssues(gathering, page, page.map(importedIssue))
  }
}

async function gatherPulls(gathering: IssueGathering): Promise<void> {
  for await (const page of gathering.api.pages('/pulls?state=all', GITEA_PULL)) {
    await appendIssues(gathering, page, page.map(importedPull))
  }
}

/**
 * Appends issues, and before them their labels that the repository does not list: labels of the
 * organization, which become labels of the repository.
 */
async function appendIssues(
  { spool, labels, numbers }: IssueGathering,
  page: ReadonlyArray<Pick<Static<typeof GITEA_ISSUE>, 'labels'>>,
  issues: readonly ImportedIssue[],
): Promise<void> {
  const others = page
    .flatMap((issue) => issue.labels ?? [])
    .filter(({ id }) => labels !== undefined && !labels.has(id) && labels.add(id))
  await spool.append({ kind: 'labels', entries: others.map(importedLabel) })
  const entries = issues.filter(({ number }) => !numbers.has(number) && numbers.add(number))
  await spool.append({ kind: 'issues', entries })
}

async function gatherComments({ api, spool, numbers }: IssueGathering): Promise<void> {
  for await (const page of api.pages('/issues/comments', GITEA_COMMENT)) {
    const comments = page.map(importedComment)
    const entries = comments.filter(({ issueNumber }) => numbers.has(issueNumber))
    await spool.append({ kind: 'comments', entries })
  }
}

async function gatherReleases(gathering: Gathering): Promise<void> {
  const tags = new Set<string>()
  const total = { bytes: 0 }
  for await (const page of gathering.api.pages('/releases', GITEA_RELEASE)) {
    for (const { assets = [], ...sent } of page) {
      const release = importedRelease(sent)
      if (tags.has(release.tagName)) continue
      tags.add(release.tagName)
      const attachments: ImportedAttachment[] = []
      for (const asset of assets) attachments.push(await fetchAsset(gathering, asset, total))
      await gathering.spool.append({ kind: 'releases', entries: [{ ...release, attachments }] })
    }
  }
}

async function fetchAsset(
  gathering: Gathering,
  asset: GiteaAsset,
  total: { bytes: number },
): Promise<ImportedAttachment> {
  const what = `the file ${asset.id}`
  const { filesBytesMax, fileBytesMax } = gathering
  const name = named(what, () => parseFileName(asset.name))
  const createdAtMs = named(what, () => timeOf(asset.created_at)) ?? Date.now()
  total.bytes += asset.size
  if (asset.size > fileBytesMax || total.bytes > filesBytesMax) throw tooLarge(asset)
  const blobId = await gathering.api.download(asset.browser_download_url, (body) =>
    keepAsset(gathering, asset, body),
  )
  const downloads = asset.download_count ?? 0
  return { uuid: randomUUID(), name, blobId, downloads, createdAtMs }
}

async function keepAsset(
  { registry, importId }: Gathering,
  asset: GiteaAsset,
  body: AsyncIterable<Buffer>,
): Promise<number> {
  let file: ReceivedFile
  try {
    file = await receiveAttachment(registry, body, asset.size)
  } catch (error) {
    throw isFailure(error, 'payload_too_large') ? tooLarge(asset) : error
  }
  try {
    if (file.bytes === asset.size) return await keepForImport(registry, file, importId)
    throw new RemoteError('failed', `the file ${asset.id} of the source is incomplete`)
  } finally {
    await file.discard()
  }
}

function tooLarge({ id }: GiteaAsset): RemoteError {
  return new RemoteError('failed', `the file ${id} of the source is too large`)
}
