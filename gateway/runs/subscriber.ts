/** Subscriber that stores the events that may start workflow runs, and has them planned. */

import { JOBS_USER_ID } from '../../sql/accounts/jobs-user.js'
import { hasPullsElsewhere } from '../../sql/pulls/pull-lists.js'
import { NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import type { DomainEvent, RefsChanged, Subscriber } from '../request/events.js'
import { storeComment, storeIssueChanges } from './store-changes.js'
import { startsRuns, storeEvent } from './store-event.js'
import { storeHeads, storePullChanges, storeReview } from './store-pulls.js'

/** Maximum number of refs of one push that start runs. */
const REFERENCES_MAX = 20

/** Creates the subscriber of one worker. */
export function createRunSubscriber(context: Context): Subscriber {
  return {
    async handle(event) {
      if (!context.settings.actions.isEnabled) return
      // What a job does starts no run, so that no chain of runs is without end.
      if (actorIdOf(event) === JOBS_USER_ID) return
      switch (event.kind) {
        case 'refs_changed':
          await refsChanged(context, event)
          return await storeHeads(context, event)
        case 'issue_changed':
          return event.issue.isPull
            ? await storePullChanges(context, event)
            : await storeIssueChanges(context, event)
        case 'comment_changed':
          return await storeComment(context, event)
        case 'review_submitted':
          return await storeReview(context, event)
        case 'review_requested':
          return await storePullChanges(context, { ...event, actions: [event.kind] })
        default:
          return undefined
      }
    },
    async isInterested(place) {
      if (place.kind !== 'refs_changed' || !context.settings.actions.isEnabled) return false
      const { repository } = place
      return hasActions(context, repository) || (await hasPullsElsewhere(context.db, repository.id))
    },
  }
}

function actorIdOf(event: DomainEvent): number | undefined {
  if ('pusher' in event) return event.pusher.id
  return 'grant' in event ? event.grant.user?.id : event.actor.id
}

async function refsChanged(
  context: Context,
  { repository, pusher, changes, key }: RefsChanged,
): Promise<void> {
  if (!startsRuns(context, repository)) return
  const moved = changes.filter(
    ({ name, after }) =>
      after !== undefined &&
      /^refs\/(?:heads|tags)\//.test(name) &&
      name.length <= NAME_CHARACTERS_MAX,
  )
  for (const { name, before, after } of moved.slice(0, REFERENCES_MAX)) {
    if (after === undefined) continue
    await storeEvent(context, {
      event: 'push',
      action: '',
      pullNumber: undefined,
      causeKey: key,
      repositoryId: repository.id,
      reference: name,
      before,
      after,
      actorId: pusher.id,
    })
  }
}
