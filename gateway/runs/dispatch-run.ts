/** Start of a workflow by a user: `workflow_dispatch`. */

import { randomUUID } from 'node:crypto'
import { withObjects } from '../../cgi/objects/with-objects.js'
import { Failure } from '../../conf/failures.js'
import { isReferenceName } from '../../conf/names.js'
import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import type { User } from '../../sql/accounts/users.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { Run } from '../../sql/runs/runs.js'
import { disabledWorkflows } from '../../sql/runs/workflow-switches.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { dispatchPayload } from '../webhooks/payloads.js'
import type { DispatchInput, InputTexts } from '../workflows/dispatch-inputs.js'
import type { FilePlan } from '../workflows/plan-file.js'
import { startRun } from './change-run.js'
import { tooManyWait } from './start-runs.js'
import { planningFacts } from './task-context.js'
import { nameOfFile, readWorkflowCommit, type WorkflowCommit } from './workflow-files.js'

/** The inputs of a workflow that a user can start. */
export interface DispatchForm {
  /** Full name of the ref. */
  readonly reference: string
  readonly inputs: readonly DispatchInput[]
}

/** Returns the inputs of a workflow. Throws like `dispatchRun`. */
export async function findDispatchForm(
  context: Context,
  target: DispatchTarget,
): Promise<DispatchForm> {
  const { reference, text } = await findFile(context, target)
  const occurrence = { event: 'workflow_dispatch', inputs: {} } as const
  const plan = await context.planFile({ text, occurrence }, target.repository.owner.id)
  if (plan.kind === 'ignored' || plan.kind === 'faulty') throw refusalOf(plan, target.file)
  return { reference, inputs: plan.dispatchInputs }
}

/** The workflow that a user starts, and where. */
export interface DispatchTarget {
  readonly repository: Repository
  /** Name of the file, without its folder. */
  readonly file: string
  /** Name of a branch or tag, short or full. */
  readonly reference: string
}

export interface DispatchRequest extends DispatchTarget {
  readonly user: User
  readonly inputs: InputTexts
}

/**
 * Starts a workflow at the tip of a branch or tag. Throws `not_found` if the ref or the file does
 * not exist, and `invalid` if the workflow is disabled, faulty or not for users to start, if the
 * inputs do not fit, or if too many runs wait.
 */
export async function dispatchRun(context: Context, request: DispatchRequest): Promise<Run> {
  const { repository, file, user, inputs } = request
  if ((await disabledWorkflows(context.db, repository.id)).has(file)) {
    throw new Failure('invalid', `The workflow ${file} is disabled.`)
  }
  if (repository.isArchived) throw new Failure('archived', 'repo is archived')
  const { commit, reference, text } = await findFile(context, request)
  const occurrence = { event: 'workflow_dispatch', inputs } as const
  const source = {
    event: 'workflow_dispatch',
    reference,
    commitId: commit.id,
    pull: undefined,
    isFromFork: false,
    actorId: user.id,
  } as const
  const payloadOf = async (texts: InputTexts) => {
    const workflow = `${WORKFLOW_FOLDER}/${file}`
    const event = { repository, sender: user, inputs: texts, ref: reference, workflow }
    return JSON.stringify(await dispatchPayload(context, event))
  }
  const payload = await payloadOf(inputs)
  const factsOf = await planningFacts(context, { repository, source, payload })
  const input = { text, occurrence, facts: factsOf(file) }
  const plan = await context.planFile(input, repository.owner.id)
  if (plan.kind !== 'planned') throw refusalOf(plan, file)
  if (await tooManyWait(context, repository, { needsApproval: false })) {
    throw new Failure('invalid', 'Too many runs of this repository wait for runners.')
  }
  const [title = ''] = commit.message.split('\n')
  const run = await startRun(context, repository, {
    repositoryId: repository.id,
    eventKey: randomUUID(),
    workflowFile: file,
    workflowName: plan.name ?? nameOfFile(file),
    title,
    payload: await payloadOf(plan.inputs),
    inputs: JSON.stringify(plan.typedInputs),
    ...source,
    reportedCommitId: commit.id,
    needsApproval: false,
    fault: '',
    text,
    concurrency: plan.concurrency,
    jobs: plan.jobs,
  })
  if (run === undefined) throw new Failure('not_found', 'The repository does not exist.')
  return run
}

interface FoundFile {
  readonly commit: WorkflowCommit
  /** Full name of the ref. */
  readonly reference: string
  readonly text: string
}

async function findFile(
  context: Context,
  { repository, file, reference: name }: DispatchTarget,
): Promise<FoundFile> {
  const path = repositoryPathOf(context, repository)
  return await withObjects(context.git, path, async (objects) => {
    for (const reference of fullNames(name)) {
      const commit = await readWorkflowCommit(objects, reference)
      if (commit === undefined) continue
      const text = commit.files.find((candidate) => candidate.name === file)?.text
      if (text !== undefined) return { commit, reference, text }
      const place = `${WORKFLOW_FOLDER}/${file}`
      throw new Failure('not_found', `The file ${place} does not exist at ${name}.`)
    }
    throw new Failure('not_found', `The branch or tag ${name} does not exist.`)
  })
}

/** Returns the refs that a name may mean, if it is one. */
function fullNames(name: string): readonly string[] {
  const names = /^refs\/(?:heads|tags)\//.test(name)
    ? [name]
    : [`refs/heads/${name}`, `refs/tags/${name}`]
  return names.filter((reference) => isReferenceName(reference.slice('refs/'.length)))
}

function refusalOf(plan: Exclude<FilePlan, { kind: 'planned' }>, file: string): Failure {
  switch (plan.kind) {
    case 'ignored':
      return new Failure('invalid', `The workflow ${file} has no 'workflow_dispatch'.`)
    case 'faulty':
      return new Failure('invalid', `${WORKFLOW_FOLDER}/${file}:${plan.fault}.`)
    case 'refused':
      return new Failure('invalid', `The workflow cannot start: ${plan.message}.`)
  }
}
