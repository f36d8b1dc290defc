/** The workflows on the default branch of a repository: their files, names and states. */

import { withObjects } from '../../cgi/objects/objects.js'
import { isFailure, notFound } from '../../conf/failures.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { cut, NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import { disabledWorkflows } from '../../sql/runs/workflow-switches.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { readWorkflowCommit, type WorkflowFile } from './workflow-files.js'

export interface ListedWorkflow {
  /** Name of the file, without its folder. */
  readonly file: string
  readonly name: string
  readonly isDisabled: boolean
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
      name: await nameOf(context, repository, file),
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

/** Number of names that are kept. */
const NAMES_MAX = 2_000

/** Names by the ids of their blobs, oldest first. A file is parsed once, in the pool. */
const names = new Map<string, string>()

/**
 * Returns the name in a file; that of the file if it has none or cannot be read, or while the pool
 * is busy.
 */
async function nameOf(
  context: Context,
  repository: Repository,
  { name, id, text }: WorkflowFile,
): Promise<string> {
  const shortName = name.replace(/\.ya?ml$/, '')
  if (!names.has(id)) {
    const reference = `refs/heads/${repository.defaultBranch}`
    const occurrence = { event: 'push', reference, changedPaths: undefined } as const
    try {
      const plan = await context.planFile({ text, occurrence }, repository.owner.id)
      const found = plan.kind === 'faulty' ? '' : (plan.name ?? '')
      names.set(id, cut(found, NAME_CHARACTERS_MAX))
    } catch (error) {
      if (!isFailure(error, 'unavailable')) throw error
    }
    const [oldest] = names.keys()
    if (names.size > NAMES_MAX && oldest !== undefined) names.delete(oldest)
  }
  return names.get(id) || shortName
}
