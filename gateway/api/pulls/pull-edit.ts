/** Edits of a pull request over the API, some of which need write permission. */

import { withObjects } from '../../../cgi/objects/with-objects.js'
import { Failure } from '../../../conf/failures.js'
import { recordIssueEvents } from '../../../sql/issues/issue-events.js'
import { replaceIssueLabels } from '../../../sql/issues/issue-labels.js'
import { type IssuePatch, type IssueUpdate, updateIssue } from '../../../sql/issues/issues.js'
import { stopStopwatch } from '../../../sql/issues/stopwatches.js'
import { setTargets, updatePull } from '../../../sql/pulls/pulls.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { changedText } from '../../actions/issues/change-issue.js'
import { refuseEarlyClose } from '../../actions/issues/dependencies.js'
import { mayWrite, refuseOthers, titleOf } from '../../actions/issues/issue-access.js'
import { noteReferences } from '../../actions/issues/note-references.js'
import { refuseStateChange } from '../../actions/pulls/change-pull-state.js'
import { tipOfBranch } from '../../actions/pulls/open-pull.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import type { Grants } from '../../auth/authorize.js'
import { readDay } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import type { IssueAction } from '../../request/events.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { assigneesOf } from '../issues/issue-inputs.js'
import type { EditPullRequestOption } from './pull-options.js'

type Grant = Grants['repository']

export interface PullEdit {
  readonly state: PullState
  readonly body: EditPullRequestOption
}

/**
 * Applies the sent changes and returns the actions that they amount to. Labels, assignees,
 * milestone and due date need write permission; without it they are ignored.
 */
export async function editPull(
  context: Context,
  grant: Grant,
  edit: PullEdit,
): Promise<readonly IssueAction[]> {
  const { db } = context
  const { state, body } = edit
  const { issue, pull } = state
  refuseOthers(grant, issue)
  refuseStateChange(issue, pull, body.state)
  await refuseEarlyClose(context, issue, body.state)
  const { id: actorId } = actingUserOf(grant)
  await changeTargets(context, grant, edit)
  const isWriter = mayWrite(grant)
  if (isWriter && body.labels !== undefined) {
    await replaceIssueLabels(db, { ...issue, actorId }, body.labels)
  }
  const patch: IssuePatch = {
    actorId,
    title: body.title ? titleOf(body.title) : undefined,
    content: body.body,
    state: body.state,
    ...(isWriter ? await changesOfWriter(context, grant, body) : {}),
  }
  const update = await updateIssue(db, issue.id, patch)
  await noteReferences(context, grant, { issue, text: changedText(patch) })
  if (body.state === 'closed') await stopStopwatch(db, { issueId: issue.id, userId: actorId })
  await updatePull(db, pull.id, { allowsMaintainerEdit: body.allow_maintainer_edit })
  return actionsOf(update, body, isWriter)
}

function actionsOf(
  { before, assigned, unassigned }: IssueUpdate,
  body: EditPullRequestOption,
  isWriter: boolean,
): readonly IssueAction[] {
  const isText = (body.title ?? body.body ?? body.base) !== undefined
  const milestone = isWriter ? body.milestone : undefined
  return [
    ...(isText ? ['edited' as const] : []),
    ...(body.state === 'closed' && before.state === 'open' ? ['closed' as const] : []),
    ...(body.state === 'open' && before.state === 'closed' ? ['reopened' as const] : []),
    ...(assigned.length > 0 ? ['assigned' as const] : []),
    ...(unassigned.length > 0 ? ['unassigned' as const] : []),
    ...(isWriter && body.labels !== undefined ? ['label_updated' as const] : []),
    ...(milestone ? ['milestoned' as const] : []),
    ...(milestone === 0 ? ['demilestoned' as const] : []),
  ]
}

/**
 * Changes the base branch, or claims the same branches again if the pull request is reopened.
 * Throws if the base cannot be changed or another open pull request has the same branches.
 */
async function changeTargets(
  context: Context,
  grant: Grant,
  { state: { issue, pull }, body }: PullEdit,
): Promise<void> {
  const isReopened = body.state === 'open' && issue.state === 'closed'
  const isMoved = body.base !== undefined && body.base !== '' && body.base !== pull.baseBranch
  if (!isReopened && !isMoved) return
  const baseBranch = isMoved && body.base !== undefined ? body.base : pull.baseBranch
  if (isMoved) {
    if (pull.mergedAtMs !== undefined) {
      throw new Failure('conflict', 'The base branch of a merged pull request cannot be changed.')
    }
    if (issue.state === 'closed' && !isReopened) {
      throw new Failure('invalid', 'The base branch of a closed pull request cannot be changed.')
    }
    if (baseBranch === pull.headBranch && pull.headRepositoryId === pull.repositoryId) {
      throw new Failure('invalid', 'The base branch and the head branch must differ.')
    }
    await withObjects(context.git, repositoryPathOf(context, grant.repository), (objects) =>
      tipOfBranch(objects, baseBranch),
    )
  }
  await setTargets(context.db, issue, { ...pull, baseBranch })
  if (!isMoved) return
  const details = { oldRef: pull.baseBranch, newRef: baseBranch }
  const kind = 'change_target_branch'
  const actorId = actingUserOf(grant).id
  await recordIssueEvents(context.db, [{ issueId: issue.id, actorId, kind, details }])
}

async function changesOfWriter(context: Context, grant: Grant, body: EditPullRequestOption) {
  const { milestone, due_date, unset_due_date } = body
  const dueAtMs = due_date === undefined ? undefined : readDay(due_date)
  return {
    assigneeIds: await assigneesOf(context, grant, body),
    milestoneId: milestone === undefined ? undefined : milestone || null,
    dueAtMs: unset_due_date === true ? null : dueAtMs,
  }
}
