/** Subscriber that stores the events that may start workflow runs, and has them planned. */

import { NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import { addPushEvent } from '../../sql/runs/events.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import type { RefsChanged, Subscriber } from '../request/events.js'

/** Maximum number of refs of one push that start runs. */
const REFERENCES_MAX = 20

/** Creates the subscriber of one worker. */
export function createRunSubscriber(context: Context): Subscriber {
  return {
    async handle(event) {
      if (event.kind === 'refs_changed') await refsChanged(context, event)
    },
    async isInterested(place) {
      return place.kind === 'refs_changed' && hasActions(context, place.repository)
    },
  }
}

async function refsChanged(
  context: Context,
  { repository, pusher, changes, key }: RefsChanged,
): Promise<void> {
  const isMirror = repository.source?.mirror !== undefined
  if (!hasActions(context, repository) || repository.isArchived || isMirror) return
  const moved = changes.filter(
    ({ name, after }) =>
      after !== undefined &&
      /^refs\/(?:heads|tags)\//.test(name) &&
      name.length <= NAME_CHARACTERS_MAX,
  )
  for (const { name, before, after } of moved.slice(0, REFERENCES_MAX)) {
    if (after === undefined) continue
    const eventId = await addPushEvent(context.db, {
      pushKey: key,
      repositoryId: repository.id,
      reference: name,
      before,
      after,
      actorId: pusher.id,
    })
    if (eventId !== undefined) await context.upkeep.enqueuePlan(eventId)
  }
}
