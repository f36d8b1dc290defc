/** Planning of the runs that a change starts whose payload is stored. */

import { withObjects } from '../../cgi/objects/with-objects.js'
import type { TypedEvent } from '../../conf/run-events.js'
import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { RunEvent } from '../../sql/runs/events.js'
import { branchReference } from '../actions/pulls/refresh-pulls.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { Occurrence } from '../workflows/triggers.js'
import { typeOfAction } from './change-type.js'
import { startRuns } from './start-runs.js'
import { mayName, readWorkflowCommit } from './workflow-files.js'

/** An event whose payload has all that workflows select it by. */
export interface TypedRunEvent extends RunEvent {
  readonly event: TypedEvent | 'workflow_run' | 'schedule'
}

/** Starts the runs of a change, from the files at its ref, which may be the default branch. */
export async function planChange(
  context: Context,
  repository: Repository,
  event: TypedRunEvent,
): Promise<void> {
  const reference = event.reference || branchReference(repository.defaultBranch)
  const path = repositoryPathOf(context, repository)
  const commit = await withObjects(context.git, path, (objects) =>
    readWorkflowCommit(objects, event.after || reference),
  )
  const only = event.event === 'schedule' ? scheduleOf(event).workflow : undefined
  const files =
    commit?.files.filter(
      ({ name, text }) => mayName(text, event.event) && (only ?? pathOf(name)) === pathOf(name),
    ) ?? []
  if (commit === undefined || files.length === 0) return
  const [firstLine = ''] = commit.message.split('\n')
  await startRuns(context, repository, {
    event,
    occurrence: occurrenceOf(event),
    files,
    run: {
      title: event.title || firstLine,
      reference,
      commitId: commit.id,
      reportedCommitId: commit.id,
      pull: undefined,
      isFromFork: false,
      needsApproval: false,
    },
    payload: async () => event.payload ?? '{}',
  })
}

function pathOf(file: string): string {
  return `${WORKFLOW_FOLDER}/${file}`
}

function occurrenceOf(stored: TypedRunEvent): Occurrence {
  const { event, action, payload = '{}' } = stored
  if (event === 'schedule') return { event, cron: scheduleOf(stored).schedule, changedPaths: [] }
  const change = { action: typeOfAction(action), changedPaths: [] }
  if (event !== 'workflow_run') return { event, ...change }
  const { workflow, workflow_run: run }: RunPayload = JSON.parse(payload)
  return { event, ...change, workflow: workflow.name, branch: run.head_branch }
}

function scheduleOf({ payload = '{}' }: TypedRunEvent): SchedulePayload {
  return JSON.parse(payload)
}

/** Parts of the payload of `schedule`. */
interface SchedulePayload {
  /** Cron expression. */
  readonly schedule: string
  /** Path of the file whose schedule is due. */
  readonly workflow: string
}

/** Parts of the payload of `workflow_run` by which workflows select it. */
interface RunPayload {
  readonly workflow: { readonly name: string }
  readonly workflow_run: { readonly head_branch: string }
}
