/** Subscriber that records the activities of users for feeds and heatmaps. */

import { createHash } from 'node:crypto'
import {
  type ActivityKind,
  type NewActivity,
  recordActivities,
} from '../../sql/accounts/activities.js'
import type { Database } from '../../sql/database/database.js'
import { findPull } from '../../sql/pulls/pulls.js'
import type { Context } from '../request/context.js'
import type {
  DomainEvent,
  IssueChanged,
  RefsChanged,
  ReviewSubmitted,
  Subscriber,
} from '../request/events.js'

/** Creates the subscriber of one worker. */
export function createActivitySubscriber({ db }: Pick<Context, 'db'>): Subscriber {
  return {
    async handle(event) {
      const activities = activitiesOf(event)
      const isMerge = await isOfMerge(db, event)
      await recordActivities(db, isMerge ? activities.map(asMerge) : activities)
    },
    // Each push is recorded, but packages are of no repository.
    isInterested: async ({ kind }) => kind === 'refs_changed',
  }
}

/** True if the event is that of a pull request which was closed by a merge. */
async function isOfMerge(db: Database, event: DomainEvent): Promise<boolean> {
  if (event.kind !== 'issue_changed' || !event.issue.isPull) return false
  if (!event.actions.includes('closed')) return false
  return (await findPull(db, event.issue.id))?.mergedAtMs !== undefined
}

function asMerge(activity: NewActivity): NewActivity {
  if (activity.kind !== 'close_pull_request') return activity
  return { ...activity, kind: 'merge_pull_request' }
}

function activitiesOf(event: DomainEvent): readonly NewActivity[] {
  switch (event.kind) {
    case 'issue_changed':
      return issueActivities(event)
    case 'comment_changed': {
      if (event.action !== 'created') return []
      const { issue, comment } = event
      const unit = issue.isPull ? 'pulls' : 'issues'
      const kind = issue.isPull ? 'comment_pull' : 'comment_issue'
      const content = contentOf(issue.number, comment.content)
      return [{ ...placeOf(event), kind, unit, commentId: comment.id, content }]
    }
    case 'review_submitted':
      return [reviewActivity(event)]
    case 'release_changed': {
      if (event.action !== 'published') return []
      const { tagName, title } = event.release
      const activity = { kind: 'publish_release', unit: 'releases' } as const
      return [{ ...placeOf(event), ...activity, refName: `refs/tags/${tagName}`, content: title }]
    }
    case 'refs_changed':
      return refActivities(event)
    case 'repository_created':
      return [{ ...placeOf(event), kind: 'create_repo', unit: 'code' }]
    case 'repository_forked': {
      const { actor, fork } = event
      return [{ ...placeOf({ actor, repository: fork }), kind: 'create_repo', unit: 'code' }]
    }
    default:
      return []
  }
}

interface Place {
  readonly repository: { readonly id: number }
  readonly actor: { readonly id: number }
}

function placeOf({ repository, actor }: Place) {
  return { actorId: actor.id, repositoryId: repository.id }
}

function issueActivities(event: IssueChanged): readonly NewActivity[] {
  const { issue, actions } = event
  const unit = issue.isPull ? 'pulls' : 'issues'
  const content = contentOf(issue.number, issue.title)
  return actions.flatMap((action) => {
    const kind = kindOf(action, issue.isPull)
    return kind === undefined ? [] : [{ ...placeOf(event), kind, unit, content }]
  })
}

/** Returns undefined for changes that feeds do not show. */
function kindOf(action: IssueChanged['actions'][number], isPull: boolean) {
  switch (action) {
    case 'opened':
      return isPull ? 'create_pull_request' : 'create_issue'
    case 'closed':
      return isPull ? 'close_pull_request' : 'close_issue'
    case 'reopened':
      return isPull ? 'reopen_pull_request' : 'reopen_issue'
    default:
      return undefined
  }
}

function reviewActivity(event: ReviewSubmitted): NewActivity {
  const { issue, review } = event
  const kind = REVIEW_KINDS[review.state] ?? 'comment_pull'
  const content = contentOf(issue.number, review.content)
  return { ...placeOf(event), kind, unit: 'pulls', content }
}

const REVIEW_KINDS: Readonly<Partial<Record<string, ActivityKind>>> = {
  APPROVED: 'approve_pull_request',
  REQUEST_CHANGES: 'reject_pull_request',
}

/** Maximum number of refs of one push that feeds show. */
const REFS_MAX = 20

function refActivities({ repository, pusher, changes, key }: RefsChanged): readonly NewActivity[] {
  return changes
    .filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name))
    .slice(0, REFS_MAX)
    .map(({ name, after }) => {
      const [kept, deleted] = name.startsWith('refs/tags/')
        ? (['push_tag', 'delete_tag'] as const)
        : (['commit_repo', 'delete_branch'] as const)
      return {
        ...placeOf({ repository, actor: pusher }),
        kind: after === undefined ? deleted : kept,
        unit: 'code',
        refName: name,
        key: createHash('sha256').update(`${key} ${name}`).digest('hex'),
      }
    })
}

/** Maximum number of characters of the text of an activity. */
const TEXT_CHARACTERS_MAX = 200

/** Returns the number of an issue with the beginning of a text, in the form of Gitea. */
function contentOf(number: number, text: string): string {
  return `${number}|${[...text.slice(0, 2 * TEXT_CHARACTERS_MAX)].slice(0, TEXT_CHARACTERS_MAX).join('')}`
}
