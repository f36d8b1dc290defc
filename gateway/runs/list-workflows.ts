/** The workflows on the default branch of a repository: their files, names and states. */

import { withObjects } from '../../cgi/objects/with-objects.js'
import { isFailure, notFound } from '../../conf/failures.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { cut, NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import { disabledWorkflows } from '../../sql/runs/workflow-switches.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { nameOfFile, readWorkflowCommit, type WorkflowFile } from './workflow-files.js'

export interface ListedWorkflow {
  /** Name of the file, without its folder. */
  readonly file: string
  readonly name: string
  readonly isDisabled: boolean
  /** True if users can start the workflow. */
  readonly isDispatchable: boolean
  /** Time of the newest commit of the default branch. */
  readonly changedAtMs: number
}

/** Returns the workflows, in the order of their files. */
export async function listWorkflows(
  context: Context,
  repository: Repository,
): Promise<readonly ListedWorkflow[]> {
  const path = repositoryPathOf(context, repository)
  const read = await withObjects(context.git, path, async (objects) => {
    return await readWorkflowCommit(objects, `refs/heads/${repository.defaultBranch}`)
  })
  if (read === undefined) return []
  const disabled = await disabledWorkflows(context.db, repository.id)
  const workflows: ListedWorkflow[] = []
  for (const file of read.files) {
    workflows.push({
      file: file.name,
      ...(await factsOf(context, repository, file)),
      isDisabled: disabled.has(file.name),
      changedAtMs: read.committedAtMs,
    })
  }
  return workflows
}

/** Returns the workflow with this file. Throws `not_found`. */
export async function findWorkflow(
  context: Context,
  repository: Repository,
  file: string,
): Promise<ListedWorkflow> {
  const workflows = await listWorkflows(context, repository)
  const found = workflows.find((workflow) => workflow.file === file)
  if (found === undefined) throw notFound()
  return found
}

type Facts = Pick<ListedWorkflow, 'name' | 'isDispatchable'>

/** Number of files whose facts are kept. */
const FACTS_MAX = 2_000

/** Facts by the ids of the blobs, oldest first. A file is parsed once, in the pool. */
const facts = new Map<string, Facts>()

/**
 * Returns the facts in a file. The name is that of the file if it has none or cannot be read, or
 * while the pool is busy.
 */
async function factsOf(
  context: Context,
  repository: Repository,
  { name: fileName, id, text }: WorkflowFile,
): Promise<Facts> {
  if (!facts.has(id)) {
    const occurrence = { event: 'workflow_dispatch', inputs: {} } as const
    try {
      const plan = await context.planFile({ text, occurrence }, repository.owner.id)
      const name = cut((plan.kind === 'faulty' ? undefined : plan.name) ?? '', NAME_CHARACTERS_MAX)
      const isDispatchable =
        plan.kind === 'planned' ||
        plan.kind === 'refused' ||
        (plan.kind === 'faulty' && plan.isStarted)
      facts.set(id, { name, isDispatchable })
    } catch (error) {
      if (!isFailure(error, 'unavailable')) throw error
    }
    const [oldest] = facts.keys()
    if (facts.size > FACTS_MAX && oldest !== undefined) facts.delete(oldest)
  }
  const { name, isDispatchable } = facts.get(id) ?? { name: '', isDispatchable: false }
  return { name: name || nameOfFile(fileName), isDispatchable }
}
