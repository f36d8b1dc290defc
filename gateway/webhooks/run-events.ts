/** Payloads of changed workflow runs. */

import { findUserById } from '../../sql/accounts/users.js'
import { ANONYMOUS } from '../auth/authenticate.js'
import { ownerObject } from '../objects/accounts/user-object.js'
import { repositoryObject } from '../objects/repositories/repository-object.js'
import { runObjects } from '../objects/runs/run-object.js'
import { workflowObject } from '../objects/runs/workflow-object.js'
import type { Context } from '../request/context.js'
import type { RunChanged } from '../request/events.js'

/** Renders the payload of `workflow_run`. `path` is that of the workflow's file. */
export async function runPayload(
  context: Context,
  { repository, run, action }: RunChanged,
  path: string,
): Promise<object> {
  const { workflowFile: file, workflowName: name, createdAtMs: changedAtMs } = run
  const user = run.actorId === undefined ? undefined : await findUserById(context.db, run.actorId)
  const view = { who: ANONYMOUS, user, repository, mode: 'owner', hasMoved: false } as const
  const [object] = await runObjects(context, view, [run])
  return {
    action,
    workflow: workflowObject(context, repository, {
      file,
      path,
      name,
      isDisabled: false,
      changedAtMs,
    }),
    workflow_run: object,
    repository: await repositoryObject(context, repository, 'owner'),
    sender: ownerObject(context, user ?? repository.owner),
  }
}
