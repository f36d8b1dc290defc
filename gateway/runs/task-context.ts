/** The contexts of a run: what expressions and runners know of it. */

import { ownKeyOf } from '../../conf/job-keys.js'
import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import { findOwnersById } from '../../sql/accounts/owners.js'
import type { Database } from '../../sql/database/database.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { findCall } from '../../sql/runs/job-plans.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
import { findRunInputs, findRunPayload, type Run } from '../../sql/runs/runs.js'
import { mergeValues, scopesOfRepository } from '../../sql/runs/scoped-values.js'
import { readBranchRules } from '../actions/code/branch-rules.js'
import type { Context } from '../request/context.js'
import type { Contexts, ContextValue } from '../workflows/expression-values.js'
import type { PlanningFacts } from '../workflows/plan-file.js'
import { nameOfFile } from './workflow-files.js'

export interface RunOfRepository {
  readonly run: Run
  readonly repository: Repository
}

/** Name of the actor of a run whose account was deleted. */
const DELETED_ACTOR = 'ghost'

/**
 * Returns a function that returns the contexts of conditions by the file of a job, without `needs`.
 * A called file has its own inputs.
 */
export async function conditionContexts(
  context: Context,
  of: RunOfRepository,
  planIds: readonly number[],
  db: Database = context.db,
): Promise<(planId: number | undefined) => Contexts> {
  const vars = await variablesOf(db, of.repository)
  const github = await githubContext(context, of, db)
  const own = { github, vars, inputs: JSON.parse(await findRunInputs(db, of.run.id)) }
  const called = new Map<number, Contexts>()
  for (const id of new Set(planIds)) {
    const call = await findCall(db, id)
    if (call !== undefined) called.set(id, { github, vars, inputs: call.inputs })
  }
  return (planId) => called.get(planId ?? 0) ?? own
}

/** Returns the values of `github` that the runner of a job gets, except its tokens. */
export async function jobContext(
  context: Context,
  of: RunOfRepository,
  { key, planId }: RunJob,
): Promise<Readonly<Record<string, ContextValue>>> {
  const github = { ...(await githubContext(context, of)), job: ownKeyOf(key) }
  const call = planId === undefined ? undefined : await findCall(context.db, planId)
  if (call === undefined) return github
  // Runners read the inputs of a called workflow in the event, as texts.
  const inputs = Object.fromEntries(
    Object.entries(call.inputs).map(([name, value]) => [name, String(value)]),
  )
  const event = { ...(github.event as Readonly<Record<string, ContextValue>>), inputs }
  return { ...github, event_name: 'workflow_call', event }
}

/** Returns the variables of a repository by their names; the nearest scope wins. */
export async function variablesOf(
  db: Database,
  repository: Repository,
): Promise<Readonly<Record<string, string>>> {
  const found = await mergeValues(db, 'variables', scopesOfRepository(repository))
  return Object.fromEntries([...found].map(([name, { value }]) => [name, value]))
}

/** Returns the values of `github` that do not depend on a job. */
async function githubContext(
  context: Context,
  { run, repository }: RunOfRepository,
  db: Database = context.db,
) {
  const { workflowName: name, workflowFile: file } = run
  return {
    ...(await eventContext(context, { source: run, repository }, db)),
    ...workflowContext({ name, file, source: run, repository }),
    event: JSON.parse(await findRunPayload(db, run.id)),
    run_id: String(run.id),
    run_number: String(run.number),
    run_attempt: String(run.attempt),
    ...(run.attempt === 1 ? {} : { triggering_actor: await actorName(db, run.rerunActorId) }),
  }
}

/** Returns the name of an account. */
async function actorName(db: Database, id: number | undefined): Promise<string> {
  const owners = await findOwnersById(db, id === undefined ? [] : [id])
  return owners.get(id ?? 0)?.name ?? DELETED_ACTOR
}

/** The parts of a run that follow from its event. */
type RunSource = Pick<Run, 'event' | 'reference' | 'commitId' | 'pull' | 'isFromFork' | 'actorId'>

interface SourceOfRepository {
  readonly source: RunSource
  readonly repository: Repository
}

interface EventOfRepository extends SourceOfRepository {
  /** Payload of the event as JSON. */
  readonly payload: string
}

/** Returns a function that returns the facts for planning the workflow of a file. */
export async function planningFacts(
  context: Context,
  { source, repository, payload }: EventOfRepository,
): Promise<(file: string) => PlanningFacts> {
  const github = await eventContext(context, { source, repository })
  const vars = await variablesOf(context.db, repository)
  return (file) => {
    const workflow = workflowContext({ name: nameOfFile(file), file, source, repository })
    return { github: { ...github, ...workflow }, payload, vars }
  }
}

/** Returns the values of `github` that all runs of an event have, without `event`. */
async function eventContext(
  context: Context,
  { source, repository }: SourceOfRepository,
  db: Database = context.db,
): Promise<Readonly<Record<string, ContextValue>>> {
  const { baseUrl } = context.settings.http
  const { reference, actorId } = source
  const actor = await actorName(db, actorId)
  const ruleOf = await readBranchRules(db, repository.id)
  const fullName = fullNameOf(repository)
  const [, kind = '', refName = ''] = /^refs\/(heads|tags|pull)\/(.+)$/.exec(reference) ?? []
  return {
    event_name: source.event,
    ref: reference,
    ref_name: refName,
    ref_type: kind === 'tags' ? 'tag' : 'branch',
    ref_protected: kind === 'heads' && ruleOf(refName) !== undefined,
    sha: source.commitId,
    head_ref: source.pull?.head ?? '',
    base_ref: source.pull?.base ?? '',
    repository: fullName,
    repository_owner: repository.owner.name,
    repositoryUrl: `${baseUrl}/${fullName}.git`,
    actor,
    triggering_actor: actor,
    run_attempt: '1',
    server_url: baseUrl,
    api_url: `${baseUrl}/api/v1`,
    graphql_url: '',
    secret_source: source.isFromFork ? 'None' : 'Actions',
    // Clients of artifacts reduce requested days to this number.
    retention_days: String(context.settings.actions.artifactRetentionDaysMax),
    ...EMPTY,
  }
}

interface WorkflowOfSource extends SourceOfRepository {
  readonly name: string
  /** Name of the file, without its folder. */
  readonly file: string
}

/** Returns the values of `github` that depend on the workflow. */
function workflowContext({
  name,
  file,
  source,
  repository,
}: WorkflowOfSource): Readonly<Record<string, string>> {
  const path = `${fullNameOf(repository)}/${WORKFLOW_FOLDER}/${file}`
  return { workflow: name, workflow_ref: `${path}@${source.reference}` }
}

function fullNameOf({ owner, name }: Repository): string {
  return `${owner.name}/${name}`
}

/** Keys whose values only the runner knows. */
const EMPTY = Object.fromEntries(
  `action action_path action_ref action_repository action_status env event_path path workspace`
    .split(' ')
    .map((key) => [key, '']),
)
