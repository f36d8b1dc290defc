/** Subscriber that stores the events that may start workflow runs, and has them planned. */

import { JOBS_USER_ID } from '../../sql/accounts/jobs-user.js'
import { hasLinkedPackages } from '../../sql/packages/package-links.js'
import { hasPullsElsewhere } from '../../sql/pulls/pull-lists.js'
import { branchReference } from '../actions/pulls/refresh-pulls.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import type { DomainEvent, RefsChanged, Subscriber } from '../request/events.js'
import {
  prepareVersion,
  storeComment,
  storeFork,
  storeIssueChanges,
  storeRelease,
  storeRun,
} from './store-changes.js'
import { storeHeads, storePullChanges, storeReview } from './store-pulls.js'
import { storeRefs } from './store-refs.js'

/** Creates the subscriber of one worker. */
export function createRunSubscriber(context: Context): Subscriber {
  const { actions } = context.settings
  return {
    async handle(event) {
      if (!actions.isEnabled) return
      if (event.kind === 'refs_changed') await refreshAfterPush(context, event)
      if (isByJob(event)) return
      await store(context, event)
    },
    async prepare(event) {
      const isPrepared = event.kind === 'package_deleted' && actions.isEnabled && !isByJob(event)
      return isPrepared ? await prepareVersion(context, event) : async () => {}
    },
    async isInterested(place) {
      if (!actions.isEnabled) return false
      if (place.kind === 'package_changed') return await hasLinkedPackages(context.db, place.owner)
      const { repository } = place
      return hasActions(context, repository) || (await hasPullsElsewhere(context.db, repository.id))
    },
  }
}

/** Enqueues the rebuilding of schedules if the default branch moved, also by a job's token. */
async function refreshAfterPush(
  context: Context,
  { repository, changes }: RefsChanged,
): Promise<void> {
  const reference = branchReference(repository.defaultBranch)
  const isMoved = changes.some(({ name }) => name === reference)
  if (!isMoved || !hasActions(context, repository)) return
  await context.upkeep.enqueueSchedules(repository.id)
}

/** True for what the token of a job did: it starts no run, so that no chain is without end. */
function isByJob(event: DomainEvent): boolean {
  return actorIdOf(event) === JOBS_USER_ID
}

function actorIdOf(event: DomainEvent): number | undefined {
  if ('pusher' in event) return event.pusher.id
  if ('run' in event) return event.run.actorId
  return 'grant' in event ? event.grant.user?.id : event.actor.id
}

async function store(context: Context, event: DomainEvent): Promise<void> {
  switch (event.kind) {
    case 'refs_changed':
      await storeRefs(context, event)
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
    case 'release_changed':
      return await storeRelease(context, event)
    case 'repository_forked':
      return await storeFork(context, event)
    case 'run_changed':
      return await storeRun(context, event)
    case 'package_published':
      return await (await prepareVersion(context, event))()
    default:
      return undefined
  }
}
