/** Events of webhooks, with their names in the API and in deliveries. */

/** Event → value of `X-Gitea-Event`, in the order in which the API lists them. */
const NAME_BY_EVENT = {
  create: 'create',
  delete: 'delete',
  fork: 'fork',
  push: 'push',
  issues: 'issues',
  issue_assign: 'issues',
  issue_label: 'issues',
  issue_milestone: 'issues',
  issue_comment: 'issue_comment',
  pull_request: 'pull_request',
  pull_request_assign: 'pull_request',
  pull_request_label: 'pull_request',
  pull_request_milestone: 'pull_request',
  pull_request_comment: 'issue_comment',
  pull_request_review_approved: 'pull_request_approved',
  pull_request_review_rejected: 'pull_request_rejected',
  pull_request_review_comment: 'pull_request_comment',
  pull_request_sync: 'pull_request',
  wiki: 'wiki',
  repository: 'repository',
  release: 'release',
  package: 'package',
  pull_request_review_request: 'pull_request',
  status: 'status',
  workflow_run: 'workflow_run',
  workflow_job: 'workflow_job',
} as const

export type HookEvent = keyof typeof NAME_BY_EVENT

/** All events, in the order in which the API lists them. */
export const HOOK_EVENTS = Object.keys(NAME_BY_EVENT) as readonly HookEvent[]

/** Returns the value of `X-Gitea-Event`. The event itself is in `X-Gitea-Event-Type`. */
export function eventName(event: HookEvent): string {
  return NAME_BY_EVENT[event]
}

/**
 * Returns the events that a client subscribes to by these words. `issues` and `pull_request` select
 * groups of events, `issues_only` and `pull_request_only` single events. Unknown words are ignored.
 */
export function parseHookEvents(words: readonly string[]): readonly HookEvent[] {
  const selected = new Set(words)
  return HOOK_EVENTS.filter((event) => wordsFor(event).some((word) => selected.has(word)))
}

/** Returns the word that selects this event only. */
export function wordOf(event: HookEvent): string {
  return event === 'issues' || event === 'pull_request' ? `${event}_only` : event
}

function wordsFor(event: HookEvent): readonly string[] {
  if (event === 'issues') return ['issues', 'issues_only']
  if (event === 'pull_request') return ['pull_request', 'pull_request_only']
  if (event.startsWith('issue_')) return [event, 'issues']
  if (event.startsWith('pull_request_review_') && event !== 'pull_request_review_request') {
    return [event, 'pull_request_review', 'pull_request']
  }
  return event.startsWith('pull_request_') ? [event, 'pull_request'] : [event]
}
