/** Planning of the runs that a change of a pull request starts. */

import { withObjects } from '../../cgi/objects/with-objects.js'
import type { ReviewEvent } from '../../conf/run-events.js'
import { findUserById, type User } from '../../sql/accounts/users.js'
import { findIssue } from '../../sql/issues/issues.js'
import { findPull, type Pull } from '../../sql/pulls/pulls.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { RunEvent } from '../../sql/runs/events.js'
import { listUnapprovedRuns } from '../../sql/runs/runs.js'
import { isForeign } from '../actions/pulls/foreign-heads.js'
import {
  branchReference,
  type PullState,
  pullReference,
  refreshPulls,
} from '../actions/pulls/refresh-pulls.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { pullPayload } from '../webhooks/issue-events.js'
import type { ChangedPull, Occurrence } from '../workflows/triggers.js'
import { cancelRun } from './cancel-run.js'
import { typeOfAction } from './change-type.js'
import { isTrusted } from './fork-trust.js'
import { payloadText } from './payload-text.js'
import { startRuns } from './start-runs.js'
import {
  asksForNoRun,
  type ChangedRange,
  mayName,
  readChangedPaths,
  readWorkflowCommit,
  type WorkflowCommit,
} from './workflow-files.js'

/** A change or a review of a pull request. */
export interface PullRunEvent extends RunEvent {
  readonly event: ChangedPull['event'] | ReviewEvent
}

/**
 * Starts the runs of a change or review of a pull request. Those of `pull_request_target` use the
 * files of its base branch, and the others the files of its head.
 */
export async function planPull(
  context: Context,
  repository: Repository,
  event: PullRunEvent,
): Promise<void> {
  const state = await findState(context, repository, event)
  if (state === undefined) return
  const { issue, pull, baseTip } = state
  const isMoved = event.action === 'synchronized'
  // The next event is about the newer head.
  if (isMoved && pull.headCommit !== event.after) return
  const isTarget = event.event === 'pull_request_target'
  const source = await readSource(context, repository, {
    event,
    commitId: isTarget ? baseTip : pull.headCommit,
    range: { from: pull.mergeBase === '' ? undefined : pull.mergeBase, to: pull.headCommit },
  })
  if (source === undefined) return
  const texts = event.event === 'pull_request' ? [source.commit.message, issue.title] : []
  if (texts.some(asksForNoRun)) return
  const [author, actor] = [
    await findUser(context, issue.authorId),
    await findUser(context, event.actorId),
  ]
  // A deploy key of an organization pushes as that; the payload then names the author.
  const sender = actor ?? author
  if (sender === undefined) return
  const isFromFork = isForeign(state) && !isTarget
  const needsApproval = isFromFork && !(await isTrusted(context, repository, [author, actor]))
  if (isMoved && !isTarget) await cancelUnapproved(context, repository, issue.number)
  await startRuns(context, repository, {
    event,
    occurrence: occurrenceOf(event, pull, source),
    files: source.commit.files,
    run: {
      title: issue.title,
      reference: isTarget ? branchReference(pull.baseBranch) : pullReference(issue.number),
      commitId: source.commit.id,
      reportedCommitId: pull.headCommit,
      pull: { number: issue.number, head: pull.headBranch, base: pull.baseBranch },
      isFromFork,
      needsApproval,
    },
    payload: async () => {
      if (event.payload !== undefined) return event.payload
      const change = { repository, actor: sender, state, action: event.action }
      return payloadText(await pullPayload(context, change))
    },
  })
}

function occurrenceOf(
  { event, action }: PullRunEvent,
  { baseBranch }: Pull,
  { changedPaths }: Source,
): Occurrence {
  const type = typeOfAction(action)
  return isReview(event)
    ? { event, action: type, changedPaths: [] }
    : { event, action: type, baseBranch, changedPaths }
}

function isReview(event: PullRunEvent['event']): event is ReviewEvent {
  return event === 'pull_request_review' || event === 'pull_request_review_comment'
}

async function findUser({ db }: Context, id: number | undefined): Promise<User | undefined> {
  return id === undefined ? undefined : await findUserById(db, id)
}

/** Returns the pull request of an event with its current commits; undefined if it was deleted. */
async function findState(
  context: Context,
  repository: Repository,
  { pullNumber }: RunEvent,
): Promise<PullState | undefined> {
  const issue = await findIssue(context.db, repository.id, pullNumber ?? 0)
  const pull = issue && (await findPull(context.db, issue.id))
  if (issue === undefined || pull === undefined) return undefined
  const [state] = await refreshPulls(context, repository, [{ issue, pull }])
  return state
}

interface SourceQuery {
  readonly event: PullRunEvent
  /** Commit of the workflow files. */
  readonly commitId: string | undefined
  readonly range: ChangedRange
}

interface Source {
  readonly commit: WorkflowCommit
  readonly changedPaths: readonly string[] | undefined
}

/**
 * Reads the workflow files, and the changed paths unless the event is a review; undefined if there
 * are no files.
 */
async function readSource(
  context: Context,
  repository: Repository,
  { event: { event }, commitId, range }: SourceQuery,
): Promise<Source | undefined> {
  if (commitId === undefined) return undefined
  const path = repositoryPathOf(context, repository)
  return await withObjects(context.git, path, async (objects) => {
    const commit = await readWorkflowCommit(objects, commitId)
    if (commit === undefined) return undefined
    const files = commit.files.filter(({ text }) => !isReview(event) || mayName(text, event))
    if (files.length === 0) return undefined
    const changedPaths = isReview(event) ? [] : await readChangedPaths(objects, range)
    return { commit: { ...commit, files }, changedPaths }
  })
}

/** Cancels the runs of a pull request that wait for approval: they are about an earlier head. */
async function cancelUnapproved(
  context: Context,
  { id }: Repository,
  pullNumber: number,
): Promise<void> {
  const reason = 'The pull request has a newer commit.'
  for (const run of await listUnapprovedRuns(context.db, id, pullNumber)) {
    await cancelRun(context, run, reason)
  }
}
