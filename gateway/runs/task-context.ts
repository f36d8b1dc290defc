/** The contexts of a run: what expressions and runners know of it. */

import { findOwnersById } from '../../sql/accounts/owners.js'
import type { Database } from '../../sql/database/database.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { findRunInputs, findRunPayload, type Run } from '../../sql/runs/runs.js'
import { mergeValues, scopesOfRepository } from '../../sql/runs/scoped-values.js'
import { readBranchRules } from '../actions/code/branch-rules.js'
import type { Context } from '../request/context.js'
import type { Contexts, ContextValue } from '../workflows/expression-values.js'
import { WORKFLOW_FOLDER } from './workflow-files.js'

export interface RunOfRepository {
  readonly run: Run
  readonly repository: Repository
}

/** Name of the actor of a run whose account was deleted. */
const DELETED_ACTOR = 'ghost'

/** Returns the contexts of conditions, without `needs`. */
export async function expressionContexts(
  context: Context,
  of: RunOfRepository,
  db: Database = context.db,
): Promise<Contexts> {
  const vars = await variablesOf(db, of.repository)
  const inputs = JSON.parse(await findRunInputs(db, of.run.id))
  return { github: await githubContext(context, of, db), vars, inputs }
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
export async function githubContext(
  context: Context,
  { run, repository }: RunOfRepository,
  db: Database = context.db,
): Promise<Readonly<Record<string, ContextValue>>> {
  const { baseUrl } = context.settings.http
  const owners = await findOwnersById(db, run.actorId === undefined ? [] : [run.actorId])
  const actor = owners.get(run.actorId ?? 0)?.name ?? DELETED_ACTOR
  const ruleOf = await readBranchRules(db, repository.id)
  const fullName = `${repository.owner.name}/${repository.name}`
  const [, kind = '', refName = ''] = /^refs\/(heads|tags|pull)\/(.+)$/.exec(run.reference) ?? []
  return {
    event_name: run.event,
    event: JSON.parse(await findRunPayload(db, run.id)),
    ref: run.reference,
    ref_name: refName,
    ref_type: kind === 'tags' ? 'tag' : 'branch',
    ref_protected: kind === 'heads' && ruleOf(refName) !== undefined,
    sha: run.commitId,
    head_ref: run.pull?.head ?? '',
    base_ref: run.pull?.base ?? '',
    repository: fullName,
    repository_owner: repository.owner.name,
    repositoryUrl: `${baseUrl}/${fullName}.git`,
    actor,
    triggering_actor: actor,
    run_id: String(run.id),
    run_number: String(run.number),
    run_attempt: '1',
    workflow: run.workflowName,
    workflow_ref: `${fullName}/${WORKFLOW_FOLDER}/${run.workflowFile}@${run.reference}`,
    server_url: baseUrl,
    api_url: `${baseUrl}/api/v1`,
    graphql_url: '',
    secret_source: run.isFromFork ? 'None' : 'Actions',
    retention_days: '30',
    ...EMPTY,
  }
}

/** Keys whose values only the runner knows. */
const EMPTY = Object.fromEntries(
  `action action_path action_ref action_repository action_status env event_path path workspace`
    .split(' ')
    .map((key) => [key, '']),
)
