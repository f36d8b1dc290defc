/** Planning of the runs that a push of a branch or tag starts. */

import { withObjects } from '../../cgi/objects/with-objects.js'
import { findOwnersById } from '../../sql/accounts/owners.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { RunEvent } from '../../sql/runs/events.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { pushPayload } from '../webhooks/push-payload.js'
import { payloadText } from './payload-text.js'
import { startRuns } from './start-runs.js'
import { asksForNoRun, readChangedPaths, readWorkflowCommit } from './workflow-files.js'

/** Starts the runs of a push. */
export async function planPush(
  context: Context,
  repository: Repository,
  event: RunEvent,
): Promise<void> {
  const { reference, after, before } = event
  const path = repositoryPathOf(context, repository)
  const pushed = await withObjects(context.git, path, async (objects) => {
    const commit = await readWorkflowCommit(objects, after)
    if (commit === undefined || commit.files.length === 0) return undefined
    const range = { from: before ?? commit.parent, to: commit.id }
    return { commit, changedPaths: await readChangedPaths(objects, range) }
  })
  if (pushed === undefined || asksForNoRun(pushed.commit.message)) return
  const { commit, changedPaths } = pushed
  const [title = ''] = commit.message.split('\n')
  await startRuns(context, repository, {
    event,
    occurrence: { event: 'push', reference, changedPaths },
    files: commit.files,
    run: {
      title,
      reference,
      // Differs from the new value of the ref if that is an annotated tag.
      commitId: commit.id,
      reportedCommitId: commit.id,
      pull: undefined,
      isFromFork: false,
      needsApproval: false,
    },
    payload: () => payloadOf(context, repository, event),
  })
}

/** Returns the payload as JSON. */
async function payloadOf(
  context: Context,
  repository: Repository,
  { reference, before, after, actorId }: RunEvent,
): Promise<string> {
  const owners = await findOwnersById(context.db, actorId === undefined ? [] : [actorId])
  const pusher = owners.get(actorId ?? 0) ?? repository.owner
  const change = { name: reference, before, after }
  return payloadText(await pushPayload(context, { repository, pusher, change }))
}
