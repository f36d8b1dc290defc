/** Subscriber that asks for notifications of users; a job finds the recipients and writes them. */

import type { Context } from '../request/context.js'
import type { IssueAction, Subscriber } from '../request/events.js'

/** Actions of which all participants and watchers are notified. */
const NOTIFYING_ACTIONS: readonly IssueAction[] = ['opened', 'closed', 'reopened']

type Recipients = 'everybody' | 'assignees' | 'reviewers'

/** Creates the subscriber of one worker. The actor of an event is never notified of it. */
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
