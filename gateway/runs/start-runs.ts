/** Start of runs: one for each workflow file that an event starts. */

import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { RunEvent } from '../../sql/runs/events.js'
import { countWaitingRuns, type NewRun } from '../../sql/runs/runs.js'
import { disabledWorkflows } from '../../sql/runs/workflow-switches.js'
import type { Context } from '../request/context.js'
import type { FilePlan } from '../workflows/plan-file.js'
import type { Occurrence } from '../workflows/triggers.js'
import { startRun } from './change-run.js'
import { skipRequiredChecks } from './skip-checks.js'
import { planningFacts } from './task-context.js'
import { nameOfFile, type WorkflowFile } from './workflow-files.js'

type Plan = Pick<NewRun, 'workflowName' | 'fault' | 'text' | 'concurrency' | 'jobs'>

/** An event, and what its runs have in common. */
export interface Start {
  readonly event: RunEvent
  readonly occurrence: Occurrence
  readonly files: readonly WorkflowFile[]
  readonly run: Omit<
    NewRun,
    | keyof Plan
    | 'repositoryId'
    | 'eventKey'
    | 'workflowFile'
    | 'event'
    | 'payload'
    | 'actorId'
    | 'chainDepth'
  >
  /** Renders the payload of the event. */
  readonly payload: () => Promise<string>
}

/** Starts the runs of an event. Those that exist already are not created again. */
export async function startRuns(
  context: Context,
  repository: Repository,
  { event, occurrence, files, run, payload }: Start,
): Promise<void> {
  const source = { ...run, event: event.event, actorId: event.actorId }
  const rendered = await payload()
  const factsOf = await planningFacts(context, { repository, source, payload: rendered })
  const disabled = await disabledWorkflows(context.db, repository.id)
  const filtered: WorkflowFile[] = []
  for (const file of files) {
    if (disabled.has(file.name)) continue
    const input = { text: file.text, occurrence, facts: factsOf(file.name) }
    const filePlan = await context.planFile(input, repository.owner.id)
    if (filePlan.kind === 'ignored' && filePlan.isFiltered) filtered.push(file)
    const plan = planOf(file, occurrence, filePlan)
    if (plan === undefined) continue
    if (await tooManyWait(context, repository, run)) return
    await startRun(context, repository, {
      repositoryId: repository.id,
      eventKey: event.key,
      workflowFile: file.name,
      event: event.event,
      payload: rendered,
      actorId: event.actorId,
      chainDepth: event.chainDepth,
      ...run,
      ...plan,
    })
  }
  // Otherwise authors who are not trusted pass a required check by a filter in their own file.
  if (run.needsApproval) return
  // After the runs, because a file that is excluded may have the contexts of one that has started.
  await skipRequiredChecks(context, repository, {
    occurrence,
    files: filtered,
    factsOf,
    reportedCommitId: run.reportedCommitId,
    actorId: event.actorId,
  })
}

/** Returns true, with a warning in the log, if too many runs of the repository wait. */
export async function tooManyWait(
  { db, log, settings }: Context,
  { id, owner, name }: Repository,
  { needsApproval }: Pick<NewRun, 'needsApproval'>,
): Promise<boolean> {
  const { runsWaitingMax } = settings.actions
  const waiting = { repositoryId: id, needsApproval }
  if ((await countWaitingRuns(db, waiting, runsWaitingMax)) < runsWaitingMax) return false
  const place = `${owner.name}/${name}`
  log.warn({ repository: place }, 'an event starts no run, because too many runs wait')
  return true
}

/** Returns the plan of the run of a file; undefined if the event does not start its workflow. */
function planOf(file: WorkflowFile, occurrence: Occurrence, plan: FilePlan): Plan | undefined {
  switch (plan.kind) {
    case 'ignored':
    case 'refused':
      return undefined
    case 'planned':
      return {
        workflowName: plan.name ?? nameOfFile(file.name),
        fault: '',
        text: file.text,
        concurrency: plan.concurrency,
        jobs: plan.jobs,
      }
    case 'faulty': {
      const path = `${WORKFLOW_FOLDER}/${file.name}`
      // If the events of a faulty file are not known, the changes of the file report the fault.
      const isReported = plan.isStarted || occurrence.changedPaths?.includes(path) !== false
      if (!isReported) return undefined
      return {
        workflowName: nameOfFile(file.name),
        fault: `${path}:${plan.fault}.`,
        text: '',
        concurrency: undefined,
        jobs: [],
      }
    }
  }
}
