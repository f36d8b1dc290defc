/** Checks of ref changes against the protection rules, for pushes, pages and the API. */

import { Failure } from '../../../conf/failures.js'
import type { Context } from '../../request/context.js'
import { checkBranchChanges, type RefChangeRequest } from './branch-judge.js'
import { checkTagChanges, isTagChange } from './tag-judge.js'

/**
 * Returns a refusal for each branch and tag whose change its rule does not permit. Wikis have no
 * rules.
 */
export async function checkRefChanges(
  context: Context,
  wanted: RefChangeRequest,
): Promise<readonly string[]> {
  if (wanted.repository.isWiki) return []
  const ofBranches = await checkBranchChanges(context, wanted)
  const ofTags = await checkTagChanges(context, wanted)
  return [...ofBranches, ...ofTags].map(plainText)
}

/**
 * Throws if a rule does not permit one of the changes: `forbidden` for a branch, `invalid` for a
 * tag.
 */
export async function refuseMoves(context: Context, wanted: RefChangeRequest): Promise<void> {
  const [refusal] = await checkRefChanges(context, wanted)
  if (refusal === undefined) return
  throw new Failure(wanted.changes.every(isTagChange) ? 'invalid' : 'forbidden', refusal)
}

/** Replaces control characters: a refusal has names of the client and is shown on a terminal. */
function plainText(sentence: string): string {
  return sentence.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 500)
}
