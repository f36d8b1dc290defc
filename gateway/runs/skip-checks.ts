/** Statuses of required checks whose workflows the filters of their triggers exclude. */

import type { ProtectionSettings } from '../../sql/code/branch-protections.js'
import { addMissingStatuses } from '../../sql/code/commit-statuses.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { NewRun } from '../../sql/runs/runs.js'
import { readBranchRules } from '../actions/code/branch-rules.js'
import { contextTest } from '../actions/code/commit-checks.js'
import type { Context } from '../request/context.js'
import type { PlanningFacts } from '../workflows/plan-file.js'
import { branchOfPush, type Occurrence } from '../workflows/triggers.js'
import { publishStatuses } from './change-run.js'
import { statusContext } from './job-status.js'
import { nameOfFile, type WorkflowFile } from './workflow-files.js'

/** Files that only their filters exclude from an event. */
export interface FilteredFiles extends Pick<NewRun, 'reportedCommitId' | 'actorId'> {
  readonly occurrence: Occurrence
  readonly files: readonly WorkflowFile[]
  readonly factsOf: (file: string) => PlanningFacts
}

/** Maximum number of jobs of one event that are compared with required contexts. */
const JOBS_MAX = 500

/**
 * Adds the commit status `skipped` for the jobs of the files that the rule of the branch requires.
 * Contexts that have a status keep it. A later run of the workflow replaces the status.
 */
export async function skipRequiredChecks(
  context: Context,
  repository: Repository,
  filtered: FilteredFiles,
): Promise<void> {
  if (filtered.files.length === 0) return
  const tests = (await requiredContexts(context, repository, filtered.occurrence)).map(contextTest)
  if (tests.length === 0) return
  const contexts = await contextsOf(context, repository, filtered)
  const required = contexts.filter((name) => tests.some((fits) => fits(name)))
  if (required.length === 0) return
  const { reportedCommitId, actorId } = filtered
  const place = { repositoryId: repository.id, commitId: reportedCommitId }
  const targetUrl = `${context.settings.http.baseUrl}/${repository.owner.name}/${repository.name}/actions`
  const skipped = required.map((name) => ({
    context: name,
    state: 'skipped' as const,
    description: 'Skipped by the filters of the workflow',
    targetUrl,
    creatorId: undefined,
  }))
  const statuses = await addMissingStatuses(context.db, place, skipped)
  await publishStatuses(context, { run: { reportedCommitId, actorId }, repository, statuses })
}

/** Returns the contexts that the rule of the pushed branch, or of the base branch, requires. */
async function requiredContexts(
  { db }: Context,
  { id }: Repository,
  occurrence: Occurrence,
): Promise<ProtectionSettings['status_check_contexts']> {
  const branch = branchOf(occurrence)
  const rule = branch === undefined ? undefined : (await readBranchRules(db, id))(branch)
  return rule?.settings.enable_status_check === true ? rule.settings.status_check_contexts : []
}

function branchOf(occurrence: Occurrence): string | undefined {
  switch (occurrence.event) {
    case 'push':
      return branchOfPush(occurrence)
    case 'pull_request':
    case 'pull_request_target':
      return occurrence.baseBranch
    default:
      return undefined
  }
}

/** Returns the contexts of the jobs, as far as they are known before the jobs run. */
async function contextsOf(
  context: Context,
  { owner }: Repository,
  { occurrence, files, factsOf }: FilteredFiles,
): Promise<readonly string[]> {
  const contexts: string[] = []
  for (const { name, text } of files) {
    const input = { text, occurrence, ignoresFilters: true, facts: factsOf(name) }
    const plan = await context.planFile(input, owner.id)
    if (plan.kind !== 'planned') continue
    const workflowName = plan.name ?? nameOfFile(name)
    for (const job of plan.jobs.slice(0, JOBS_MAX - contexts.length)) {
      contexts.push(statusContext({ workflowName, jobName: job.name, event: occurrence.event }))
    }
    if (contexts.length === JOBS_MAX) break
  }
  return contexts
}
