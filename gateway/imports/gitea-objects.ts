/** Schemas of another Gitea's API objects, and their conversion to validated rows. */

import { type Static, Type } from 'typebox'
import { RemoteError } from '../../cgi/transfer/remote.js'
import { isFailure } from '../../conf/failures.js'
import { isReferenceName, parseTagName } from '../../conf/names.js'
import type {
  ImportedComment,
  ImportedIssue,
  ImportedLabel,
  ImportedMilestone,
  ImportedPull,
  ImportedRelease,
} from '../../sql/repositories/imported-contents.js'
import { titleOf } from '../actions/issues/issue-access.js'
import { readLabel } from '../objects/issues/label-object.js'
import { readTime } from '../objects/times.js'

const ID = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const STATE = Type.Enum(['open', 'closed'])
const TEXT = Type.Optional(Type.String())
const FLAG = Type.Optional(Type.Boolean())
const NAME = Type.Optional(Type.String({ maxLength: 255 }))
/** Id of an account; Gitea sends -1 for a deleted one. */
const PERSON_ID = Type.Integer({ minimum: -1_000, maximum: Number.MAX_SAFE_INTEGER })

/** Parts of a repository that are enabled. */
export const GITEA_REPOSITORY = Type.Object({
  has_issues: FLAG,
  has_pull_requests: FLAG,
  has_releases: FLAG,
})

export const GITEA_LABEL = Type.Object({
  id: ID,
  name: Type.String(),
  color: Type.String(),
  description: Type.Optional(Type.String({ maxLength: 2_048 })),
  exclusive: FLAG,
  is_archived: FLAG,
})

export const GITEA_MILESTONE = Type.Object({
  id: ID,
  title: Type.String(),
  description: TEXT,
  state: STATE,
  due_on: TEXT,
  created_at: TEXT,
  updated_at: TEXT,
  closed_at: TEXT,
})

const AUTHOR_FIELDS = {
  user: Type.Optional(Type.Object({ id: PERSON_ID, login: Type.String() })),
  original_author: TEXT,
  original_author_id: Type.Optional(PERSON_ID),
}
const AUTHOR = Type.Object(AUTHOR_FIELDS)

export const GITEA_ISSUE = Type.Object({
  id: ID,
  number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  title: Type.String(),
  body: TEXT,
  ref: NAME,
  state: STATE,
  is_locked: FLAG,
  labels: Type.Optional(Type.Array(GITEA_LABEL, { maxItems: 1_000 })),
  milestone: Type.Optional(Type.Object({ id: ID })),
  created_at: Type.String(),
  updated_at: Type.String(),
  closed_at: TEXT,
  due_date: TEXT,
  ...AUTHOR_FIELDS,
})

const BRANCH = Type.Object({
  label: Type.String(),
  ref: Type.String(),
  sha: TEXT,
  repo_id: Type.Optional(Type.Integer()),
})

export const GITEA_PULL = Type.Object({
  ...GITEA_ISSUE.properties,
  base: BRANCH,
  head: BRANCH,
  merge_base: TEXT,
  merged: FLAG,
  merged_at: TEXT,
  merge_commit_sha: TEXT,
  allow_maintainer_edit: FLAG,
})

export const GITEA_COMMENT = Type.Object({
  id: ID,
  body: TEXT,
  issue_url: TEXT,
  pull_request_url: TEXT,
  created_at: Type.String(),
  updated_at: Type.String(),
  ...AUTHOR_FIELDS,
})

export const GITEA_ASSET = Type.Object({
  id: ID,
  name: Type.String(),
  size: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  download_count: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  created_at: TEXT,
  browser_download_url: Type.String(),
})

export const GITEA_RELEASE = Type.Object({
  id: ID,
  tag_name: Type.String(),
  target_commitish: NAME,
  name: NAME,
  body: TEXT,
  draft: FLAG,
  prerelease: FLAG,
  created_at: Type.String(),
  published_at: TEXT,
  assets: Type.Optional(Type.Array(GITEA_ASSET, { maxItems: 1_000 })),
})

export type GiteaAsset = Static<typeof GITEA_ASSET>

/** Calls `read`; if it throws `invalid`, throws RemoteError with the name of the object. */
export function named<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!isFailure(error, 'invalid')) throw error
    throw new RemoteError('failed', `${what} of the source is not valid here: ${error.message}`)
  }
}

/** Converts a label. Throws RemoteError if it is not valid here, like the functions below. */
export function importedLabel(label: Static<typeof GITEA_LABEL>): ImportedLabel {
  return { ...named(`the label ${label.id}`, () => readLabel(label)), id: label.id }
}

/** Converts a milestone. */
export function importedMilestone(sent: Static<typeof GITEA_MILESTONE>): ImportedMilestone {
  return named(`the milestone ${sent.id}`, () => {
    const createdAtMs = timeOf(sent.created_at) ?? 0
    const updatedAtMs = timeOf(sent.updated_at) ?? createdAtMs
    return {
      id: sent.id,
      title: titleOf(sent.title),
      description: sent.description ?? '',
      state: sent.state,
      createdAtMs,
      updatedAtMs,
      dueAtMs: timeOf(sent.due_on),
      closedAtMs: sent.state === 'open' ? undefined : (timeOf(sent.closed_at) ?? updatedAtMs),
    }
  })
}

/** Converts an issue, or the fields that a pull request shares with issues. */
export function importedIssue(sent: Static<typeof GITEA_ISSUE>): ImportedIssue {
  return named(`the issue ${sent.number}`, () => {
    const createdAtMs = timeOf(sent.created_at) ?? 0
    const updatedAtMs = timeOf(sent.updated_at) ?? createdAtMs
    return {
      number: sent.number,
      title: titleOf(sent.title),
      content: sent.body ?? '',
      originalAuthor: authorOf(sent),
      state: sent.state,
      ref: sent.ref ?? '',
      isLocked: sent.is_locked ?? false,
      dueAtMs: timeOf(sent.due_date),
      createdAtMs,
      updatedAtMs,
      closedAtMs: sent.state === 'open' ? undefined : (timeOf(sent.closed_at) ?? updatedAtMs),
      labelIds: (sent.labels ?? []).map(({ id }) => id),
      milestoneId: sent.milestone?.id,
    }
  })
}

/** Converts a pull request, without checking that its commits exist. */
export function importedPull(sent: Static<typeof GITEA_PULL>): ImportedIssue {
  const issue = importedIssue(sent)
  return named(`the pull request ${sent.number}`, () => {
    const { head, base } = sent
    const isMerged = sent.merged ?? false
    const closedAtMs = issue.closedAtMs ?? issue.updatedAtMs
    const pull: ImportedPull = {
      isHeadHere: head.repo_id !== undefined && head.repo_id === base.repo_id,
      headBranch: branchOf(sent.number, head.label),
      baseBranch: branchOf(sent.number, base.ref),
      headCommit: commitOf(head.sha),
      mergeBase: commitOf(sent.merge_base),
      mergedAtMs: isMerged ? (timeOf(sent.merged_at) ?? closedAtMs) : undefined,
      mergeCommit: isMerged ? commitOf(sent.merge_commit_sha) || undefined : undefined,
      allowsMaintainerEdit: sent.allow_maintainer_edit ?? false,
    }
    return isMerged ? { ...issue, state: 'closed', closedAtMs, pull } : { ...issue, pull }
  })
}

function branchOf(number: number, name: string): string {
  if (isReferenceName(name) && isReferenceName(`heads/${name}`)) return name
  throw new RemoteError(
    'failed',
    `the pull request ${number} of the source has an invalid branch name`,
  )
}

/** Returns the commit id, or an empty text if it is malformed. */
function commitOf(text = ''): string {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : ''
}

/** Converts a comment. The number of its issue is parsed from an address, which is not called. */
export function importedComment(sent: Static<typeof GITEA_COMMENT>): ImportedComment {
  const address = sent.issue_url || sent.pull_request_url || ''
  const number = Number(/\/(?:issues|pulls)\/(\d{1,10})$/.exec(address)?.[1])
  if (!(number > 0)) {
    throw new RemoteError('failed', `the comment ${sent.id} of the source names no issue`)
  }
  return named(`the comment ${sent.id}`, () => {
    const createdAtMs = timeOf(sent.created_at) ?? 0
    return {
      issueNumber: number,
      content: sent.body ?? '',
      originalAuthor: authorOf(sent),
      createdAtMs,
      updatedAtMs: timeOf(sent.updated_at) ?? createdAtMs,
    }
  })
}

/** Converts a release, without its files. */
export function importedRelease(sent: Static<typeof GITEA_RELEASE>): ImportedRelease {
  return named(`the release ${sent.id}`, () => {
    const createdAtMs = timeOf(sent.created_at) ?? 0
    return {
      tagName: parseTagName(sent.tag_name),
      target: sent.target_commitish ?? '',
      title: sent.name ?? '',
      body: sent.body ?? '',
      createdAtMs,
      isDraft: sent.draft ?? false,
      isPrerelease: sent.prerelease ?? false,
      publishedAtMs: timeOf(sent.published_at) ?? createdAtMs,
      attachments: [],
    }
  })
}

/** Returns the author; of an object that the source itself has imported, the original author. */
function authorOf(sent: Static<typeof AUTHOR>) {
  const { user, original_author, original_author_id = 0 } = sent
  if (original_author) return { name: plain(original_author), id: original_author_id }
  return { name: plain(user?.login ?? ''), id: user?.id ?? 0 }
}

const AUTHOR_CHARACTERS_MAX = 255

function plain(name: string): string {
  const shown = name.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
  return [...shown].slice(0, AUTHOR_CHARACTERS_MAX).join('')
}

/**
 * Reads a time in milliseconds. Returns undefined for the years 1 and 1970, with which Gitea
 * represents a missing time. Throws `invalid`.
 */
export function timeOf(text: string | undefined): number | undefined {
  const timeMs = text ? readTime(text) : 0
  return timeMs > 0 ? timeMs : undefined
}
