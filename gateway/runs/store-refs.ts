/** Storage of the changes of branches and tags that may start workflow runs. */

import type { Context } from '../request/context.js'
import type { RefsChanged } from '../request/events.js'
import { refEvents } from '../webhooks/ref-events.js'
import { startsRuns, storeChange, storeEvent } from './store-event.js'

/** Maximum number of refs of one push that start runs, for each kind of event. */
const REFERENCES_MAX = 20

/** Stores the push of each branch and tag, and their creations and deletions. */
export async function storeRefs(context: Context, pushed: RefsChanged): Promise<void> {
  const { repository, pusher, changes, key } = pushed
  if (!startsRuns(context, repository)) return
  const named = changes.filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name))
  const moved = named.filter(({ after }) => after !== undefined)
  for (const { name, before, after = '' } of moved.slice(0, REFERENCES_MAX)) {
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
  const made = named.filter(({ before, after }) => before === undefined || after === undefined)
  for (const change of made.slice(0, REFERENCES_MAX)) {
    for (const { event, payload } of await refEvents(context, { ...pushed, changes: [change] })) {
      if (event !== 'create' && event !== 'delete') continue
      await storeChange(context, payload, {
        event,
        action: '',
        causeKey: `${key} ${change.name}`,
        repositoryId: repository.id,
        actorId: pusher.id,
        title: '',
        // The ref of a deletion does not exist any more.
        ...(event === 'create' ? { reference: change.name, after: change.after ?? '' } : {}),
      })
    }
  }
}
