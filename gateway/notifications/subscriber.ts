/** Subscriber that asks for notifications of users; a job finds the recipients and writes them. */

import type { RunEventName } from '../../conf/run-events.js'
import type { Run } from '../../sql/runs/runs.js'
import type { Context } from '../request/context.js'
import type { IssueAction, RunChanged, Subscriber } from '../request/events.js'

/** Actions of which all participants and watchers are notified. */
const NOTIFYING_ACTIONS: readonly IssueAction[] = ['opened', 'closed', 'reopened']

type Recipients = 'everybody' | 'assignees' | 'reviewers'

/** Events whose failed runs are notified to the users who caused them. */
const NOTIFYING_RUN_EVENTS: ReadonlySet<string> = new Set<RunEventName>([
  'push',
  'pull_request',
  'pull_request_target',
])

/**
 * Creates the subscriber of one worker. The actor of an event is never notified of it, except of a
 * failed run.
 */
export function createNotificationSubscriber({ upkeep }: Pick<Context, 'upkeep'>): Subscriber {
  async function notify(
    { repository, actor }: NotifyingEvent,
    about: { issueNumber: number; to: Recipients } | { releaseId: number },
  ): Promise<void> {
    await upkeep.notifyUsers({ repositoryId: repository.id, actorId: actor.id, about })
  }

  return {
    async handle(event) {
      switch (event.kind) {
        case 'issue_changed': {
          const to = recipientsOf(event.actions)
          if (to !== undefined) await notify(event, { issueNumber: event.issue.number, to })
          break
        }
        case 'comment_changed':
          if (event.action === 'created') {
            await notify(event, { issueNumber: event.issue.number, to: 'everybody' })
          }
          break
        case 'review_submitted':
          await notify(event, { issueNumber: event.issue.number, to: 'everybody' })
          break
        case 'review_requested':
          await notify(event, { issueNumber: event.issue.number, to: 'reviewers' })
          break
        case 'release_changed':
          if (event.action === 'published') await notify(event, { releaseId: event.release.id })
          break
        case 'run_changed': {
          const actorId = failedActorOf(event)
          const about = { runId: event.run.id }
          const repositoryId = event.repository.id
          if (actorId !== undefined) await upkeep.notifyUsers({ repositoryId, actorId, about })
          break
        }
        default:
      }
    },
  }
}

interface NotifyingEvent {
  readonly repository: { readonly id: number }
  readonly actor: { readonly id: number }
}

/** Returns undefined for labels, milestones and edited texts, which notify no user. */
function recipientsOf(actions: readonly IssueAction[]): Recipients | undefined {
  if (actions.some((action) => NOTIFYING_ACTIONS.includes(action))) return 'everybody'
  return actions.includes('assigned') ? 'assignees' : undefined
}

/** Returns the user whose change has made a run fail; undefined if no user is notified. */
function failedActorOf({ action, run }: RunChanged): Run['actorId'] {
  const isFailed = action === 'completed' && run.status === 'failure'
  return isFailed && NOTIFYING_RUN_EVENTS.has(run.event) ? run.actorId : undefined
}
