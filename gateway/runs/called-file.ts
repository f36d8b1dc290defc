/** The file of a reusable workflow that a job calls. */

import { withObjects } from '../../cgi/objects/with-objects.js'
import { isReferenceName } from '../../conf/names.js'
import { WORKFLOW_FOLDER } from '../../conf/workflow-folder.js'
import {
  findRepository,
  findRepositoryById,
  type Repository,
} from '../../sql/repositories/repositories.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import type { CalledPlace } from '../workflows/read-call.js'
import type { RunOfRepository } from './task-context.js'
import { readWorkflowCommit } from './workflow-files.js'

/** File that a job calls, and its commit. */
export interface CalledFile {
  readonly text: string
  /** Path of the file, with repository and ref if it is of another one. */
  readonly path: string
  readonly repositoryId: number
  readonly commitId: string
}

/** Repository and commit of a caller's file. */
export type CallerPlace = Pick<CalledFile, 'repositoryId' | 'commitId'>

/** Reason why a file cannot be called, without a final full stop. */
export class CallFault extends Error {}

/**
 * Reads a called file: of the caller's own commit, or of another repository with the same owner, or
 * that everyone reads. Runs of forks call only files that everyone reads. Throws CallFault.
 */
export async function readCalledFile(
  context: Context,
  of: RunOfRepository,
  { caller, place }: { readonly caller: CallerPlace; readonly place: CalledPlace },
): Promise<CalledFile> {
  const isLocal = place.repository === undefined
  const repository = isLocal
    ? await findRepositoryById(context.db, caller.repositoryId)
    : await findRepository(context.db, place.repository.owner, place.repository.name)
  if (repository === undefined || !(isLocal || canCall(of, repository))) {
    throw new CallFault('the repository does not exist, or the caller must not read it')
  }
  const revisions = isLocal ? [caller.commitId] : revisionsOf(place.repository.reference)
  const file = await readFile(context, repository, { revisions, file: place.file })
  if (file === undefined) throw new CallFault('the branch, tag or commit does not exist')
  if (file.text === undefined) throw new CallFault('the file does not exist there')
  return {
    text: file.text,
    path: isLocal ? `${WORKFLOW_FOLDER}/${place.file}` : place.text,
    repositoryId: repository.id,
    commitId: file.commitId,
  }
}

function canCall({ run, repository }: RunOfRepository, called: Repository): boolean {
  if (called.id === repository.id) return true
  if (called.owner.visibility === 'public' && !called.isPrivate) return true
  // The author of a fork must not read the private files of the owner.
  return !run.isFromFork && called.owner.id === repository.owner.id
}

/** Returns what a ref of a call may mean: a branch, a tag or a commit. */
function revisionsOf(reference: string): readonly string[] {
  const names = /^refs\/(?:heads|tags)\//.test(reference)
    ? [reference]
    : [`refs/heads/${reference}`, `refs/tags/${reference}`]
  const isCommit = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(reference)
  return [
    ...names.filter((name) => isReferenceName(name.slice('refs/'.length))),
    ...(isCommit ? [reference] : []),
  ]
}

interface WantedFile {
  readonly revisions: readonly string[]
  readonly file: string
}

/** Reads a file; undefined if there is no commit, and without text if it does not have the file. */
async function readFile(
  context: Context,
  repository: Repository,
  { revisions, file }: WantedFile,
): Promise<{ readonly commitId: string; readonly text: string | undefined } | undefined> {
  const path = repositoryPathOf(context, repository)
  return await withObjects(context.git, path, async (objects) => {
    for (const revision of revisions) {
      const commit = await readWorkflowCommit(objects, revision)
      if (commit === undefined) continue
      const text = commit.files.find(({ name }) => name === file)?.text
      return { commitId: commit.id, text }
    }
    return undefined
  })
}
