/** Changes of issues, and of the issue part of pull requests. */

import {
  type Issue,
  type IssuePatch,
  type IssueUpdate,
  updateIssue,
} from '../../../sql/issues/issues.js'
import { stopStopwatch } from '../../../sql/issues/stopwatches.js'
import type { Context } from '../../request/context.js'
import type { IssueAction } from '../../request/events.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { changePullState } from '../pulls/change-pull-state.js'
import { refuseEarlyClose } from './dependencies.js'
import { refuseOthers } from './issue-access.js'
import { issueChanged } from './issue-changed.js'
import { noteReferences } from './note-references.js'

export interface IssueEdit {
  readonly issue: Issue
  readonly patch: IssuePatch
}

/**
 * Changes an issue and publishes the changes. Throws `archived`, `forbidden` unless the caller is
 * its author or can write, `precondition_failed` for a new state of a merged pull request or if an
 * issue that it depends on is open, `conflict` if another pull request is open for the same
 * branches, and `invalid`.
 */
export async function changeIssue(
  context: Context,
  grant: RepositoryGrant,
  { issue, patch }: IssueEdit,
): Promise<void> {
  const actor = actingUserOf(grant)
  refuseOthers(grant, issue)
  await refuseEarlyClose(context, issue, patch.state)
  await changePullState(context, issue, patch.state)
  const update = await updateIssue(context.db, issue.id, { ...patch, actorId: actor.id })
  await noteReferences(context, grant, { issue, text: changedText(patch) })
  if (patch.state === 'closed') {
    await stopStopwatch(context.db, { issueId: issue.id, userId: actor.id })
  }
  const actions = actionsOf(patch, update)
  const { repository } = grant
  await issueChanged(context, { repository, issue: update.before, actor, actions })
}

/** Returns the new title and text of a patch; empty if it changes neither. */
export function changedText({ title = '', content = '' }: IssuePatch): string {
  return `${title}\n${content}`
}

/** Returns the kinds of the changes that a patch made. */
function actionsOf(patch: IssuePatch, update: IssueUpdate): readonly IssueAction[] {
  const { before, assigned, unassigned } = update
  const isEdited =
    (patch.title ?? before.title) !== before.title ||
    (patch.content ?? before.content) !== before.content ||
    (patch.ref ?? before.ref) !== before.ref ||
    (patch.dueAtMs !== undefined && (patch.dueAtMs ?? undefined) !== before.dueAtMs)
  const milestoneId = patch.milestoneId === undefined ? before.milestoneId : patch.milestoneId
  const isMoved = (milestoneId ?? undefined) !== before.milestoneId
  const isStateChanged = patch.state !== undefined && patch.state !== before.state
  return [
    ...(isEdited ? (['edited'] as const) : []),
    ...(isMoved ? [milestoneId ? ('milestoned' as const) : ('demilestoned' as const)] : []),
    ...(assigned.length > 0 ? (['assigned'] as const) : []),
    ...(unassigned.length > 0 ? (['unassigned'] as const) : []),
    ...(isStateChanged
      ? [patch.state === 'closed' ? ('closed' as const) : ('reopened' as const)]
      : []),
  ]
}
