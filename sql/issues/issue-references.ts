/** References in texts to issues and pull requests, such as `#12` and `ada/engine#12`. */

import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Viewer } from '../repositories/visibility.js'
import { type IssueEventKind, recordIssueEvents } from './issue-events.js'
import { conversationsVisibleTo, IS_SERVED } from './issue-lists.js'

/** Maximum number of references of one text that are recorded. */
const REFERENCES_MAX = 20
/** Maximum number of places of one text that are examined. */
const PLACES_MAX = 200

/** Issue that a text names. */
export interface NamedIssue {
  /** Undefined for the repository of the text. */
  readonly repository: { readonly owner: string; readonly name: string } | undefined
  readonly number: number
}

/** Returns the issues that a Markdown text names outside of code, each once. */
export function namedIssues(text: string): readonly NamedIssue[] {
  const named = new Map<string, NamedIssue>()
  let places = 0
  const prose = withoutCode(text)
  for (const { index, 1: digits = '' } of prose.matchAll(/#(\d{1,15})(?![\w-])/g)) {
    places += 1
    if (places > PLACES_MAX || named.size === REFERENCES_MAX) break
    // A name has at most 100 characters, so the two before the number have at most 201.
    const [, prefix, owner, name] = PREFIX.exec(prose.slice(Math.max(0, index - 202), index)) ?? []
    if (prefix === undefined) continue
    const repository = owner === undefined || name === undefined ? undefined : { owner, name }
    const number = Number(digits)
    const key = `${foldCase(prefix)}#${number}`
    if (!named.has(key)) named.set(key, { repository, number })
  }
  return [...named.values()]
}

/** Matches the text before `#`: nothing, or a repository, after a character that is no part. */
const PREFIX = /(?:^|[^\w./&#-])((?:([\w.-]{1,100})\/([\w.-]{1,100}))?)$/

function withoutCode(text: string): string {
  let isFenced = false
  const lines = text.split('\n').filter((line) => {
    const isFence = /^ {0,3}(?:```|~~~)/.test(line)
    if (isFence) isFenced = !isFenced
    return !isFence && !isFenced
  })
  return lines.join('\n').replace(/`[^`\n]*`/g, ' ')
}

/** Issue, or a comment on it, whose text refers to other issues. */
export interface ReferenceSource {
  readonly issue: { readonly id: number; readonly repositoryId: number; readonly isPull: boolean }
  readonly commentId?: number | undefined
  readonly text: string
  readonly actorId: number
  /** Client that wrote the text. Issues that it cannot read are left out. */
  readonly viewer: Viewer
}

/** Records the references of a text as events of the named issues, each once per source. */
export async function recordReferences(db: Database, source: ReferenceSource): Promise<void> {
  const named = namedIssues(source.text)
  if (named.length === 0) return
  const { issue, commentId, actorId } = source
  const kind = kindOf(source)
  await transaction(db, async (trx) => {
    const targets = await findTargets(trx, source, named)
    const known = await trx('issue_events')
      .where({ kind, other_issue_id: issue.id })
      .select('issue_id', 'details')
    const details = commentId === undefined ? {} : { commentId }
    const isKnown = (id: number) =>
      known.some((row) => row.issue_id === id && row.details === JSON.stringify(details))
    const added = targets.filter((id) => id !== issue.id && !isKnown(id))
    await recordIssueEvents(
      trx,
      added.map((issueId) => ({ issueId, kind, actorId, otherIssueId: issue.id, details })),
    )
  })
}

function kindOf({ issue, commentId }: ReferenceSource): IssueEventKind {
  if (commentId !== undefined) return 'comment_ref'
  return issue.isPull ? 'pull_ref' : 'issue_ref'
}

async function findTargets(
  trx: Database,
  { issue, viewer }: ReferenceSource,
  named: readonly NamedIssue[],
): Promise<readonly number[]> {
  const seen = conversationsVisibleTo(viewer)
  const places = named.map(({ repository }) =>
    repository === undefined
      ? '(i.repository_id = ? and i.number = ?)'
      : '(o.name_lower = ? and r.name_lower = ? and i.number = ?)',
  )
  const bindings = named.flatMap(({ repository, number }) =>
    repository === undefined
      ? [issue.repositoryId, number]
      : [foldCase(repository.owner), foldCase(repository.name), number],
  )
  const rows = await selectRows<{ id: number }>(
    trx,
    `select i.id from issues i join repositories r on r.id = i.repository_id
      join owners o on o.id = r.owner_id
      where (${places.join(' or ')}) and ${seen.where} and ${IS_SERVED} order by i.id`,
    [...bindings, ...seen.bindings],
  )
  return rows.map(({ id }) => id)
}
