/** Webhook events of changed workflow runs and their jobs. */

import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import { findUserById } from '../../sql/accounts/users.js'
import { ANONYMOUS } from '../auth/authenticate.js'
import { ownerObject } from '../objects/accounts/user-object.js'
import { repositoryObject } from '../objects/repositories/repository-object.js'
import { jobObjects } from '../objects/runs/job-object.js'
import { runObjects } from '../objects/runs/run-object.js'
import { shortReference } from '../objects/runs/run-words.js'
import { workflowObject } from '../objects/runs/workflow-object.js'
import type { Context } from '../request/context.js'
import type { JobsChanged, RunChanged } from '../request/events.js'
import type { WebhookEvent } from './deliveries.js'
import { OWNER_ACCESS } from './payloads.js'

/** Returns the event `workflow_run`. */
export function runEvent(context: Context, change: RunChanged): WebhookEvent {
  const { repository, run, action } = change
  const payload = async () => {
    const { user, ...fields } = await fieldsOf(context, change)
    const view = { who: ANONYMOUS, user, repository, ...OWNER_ACCESS, hasMoved: false } as const
    const [object] = await runObjects(context, view, [run])
    return { action, workflow_run: object, ...fields }
  }
  return { event: 'workflow_run', repository, branch: branchOf(change), payload }
}

/** Returns an event `workflow_job` for each job, whose action is the status in the API. */
export async function jobEvents(
  context: Context,
  change: JobsChanged,
): Promise<readonly WebhookEvent[]> {
  const { repository } = change
  // A job that is being cancelled was in progress before, and is still.
  const jobs = change.jobs.filter(({ status }) => status !== 'cancelling')
  if (jobs.length === 0) return []
  const { user: _, ...fields } = await fieldsOf(context, change)
  const objects = await jobObjects(context, change, jobs)
  return objects.map((object) => ({
    event: 'workflow_job',
    repository,
    branch: branchOf(change),
    payload: () => ({ action: object.status, workflow_job: object, ...fields }),
  }))
}

type Source = Pick<RunChanged, 'repository' | 'run'>

/** Returns the branch that filters of webhooks are about; undefined for a tag. */
function branchOf({ run: { pull, reference } }: Source): string | undefined {
  if (pull !== undefined) return pull.head
  return reference.startsWith('refs/heads/') ? shortReference(reference) : undefined
}

/** Returns the fields that both events have, and the user who has caused the run. */
async function fieldsOf(context: Context, { repository, run }: Source) {
  const { workflowFile: file, workflowName: name, createdAtMs: changedAtMs, actorId } = run
  const user = actorId === undefined ? undefined : await findUserById(context.db, actorId)
  const { owner } = repository
  const path = `${WORKFLOW_FOLDER}/${file}`
  const workflow = { file, path, name, isDisabled: false, changedAtMs }
  return {
    user,
    workflow: workflowObject(context, repository, workflow),
    ...(owner.kind === 'organization' ? { organization: ownerObject(context, owner) } : {}),
    repository: await repositoryObject(context, repository, 'owner'),
    sender: ownerObject(context, user ?? owner),
  }
}
