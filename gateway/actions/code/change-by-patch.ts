/** A commit that applies a patch to a branch. */

import { applyPatch, type PatchedFile } from '../../../cgi/objects/apply-patch.js'
import { parseCommit } from '../../../cgi/objects/commit-object.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { parseFilePath } from '../../../conf/file-path.js'
import type { Context } from '../../request/context.js'
import {
  type ChangedFiles,
  changeFiles,
  type FileChange,
  type FileChanges,
} from './change-files.js'

/**
 * Applies the patch to the files of the branch, and commits the result. Throws `invalid` if the
 * patch does not apply or another writer has changed one of its files meanwhile, and like
 * `changeFiles`.
 */
export async function changeByPatch(
  context: Context,
  wanted: FileChanges,
  patch: string,
): Promise<ChangedFiles> {
  const { path, branch } = wanted
  const treeId = await withObjects(context.git, path, async (objects) => {
    const found = await objects.read(`refs/heads/${branch}^{commit}`)
    return found?.content === undefined ? undefined : parseCommit(found.id, found.content).tree
  })
  const files = await applyPatch(context.git, path, { treeId, patch })
  return await changeFiles(context, { ...wanted, changes: files.map(changeOf) })
}

/** Returns the change, on the condition that the file is as it was when the patch was applied. */
function changeOf({ path, before, after }: PatchedFile): FileChange {
  const names = parseFilePath(path)
  if (after === undefined) return { operation: 'delete', names, sha: before }
  const operation = before === undefined ? 'create' : 'update'
  return { operation, names, sha: before, content: after.content, mode: after.mode }
}
