/** Storage of changes that may start workflow runs, with their payloads. */

import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { isFinal } from '../../sql/runs/statuses.js'
import type { Context } from '../request/context.js'
import type {
  CommentChanged,
  IssueChanged,
  PackageChanged,
  ReleaseChanged,
  RepositoryForked,
  RunChanged,
} from '../request/events.js'
import { commentChangeEvent, issueChangeEvent } from '../webhooks/issue-events.js'
import { packageChangeEvent } from '../webhooks/package-events.js'
import { forkEvent } from '../webhooks/payloads.js'
import { releaseChangeEvent } from '../webhooks/release-events.js'
import { runEvent } from '../webhooks/run-events.js'
import { startsRuns, storeChange } from './store-event.js'

/** Stores the changes of an issue that one request has made. */
export async function storeIssueChanges(context: Context, change: IssueChanged): Promise<void> {
  const { repository, issue, actor, actions } = change
  if (!startsRuns(context, repository)) return
  for (const action of actions) {
    const rendered = await issueChangeEvent(context, change, action)
    await storeChange(context, rendered?.payload, {
      event: 'issues',
      action,
      repositoryId: repository.id,
      actorId: actor.id,
      title: issue.title,
    })
  }
}

/** Stores a change of a comment, on an issue or a pull request. */
export async function storeComment(context: Context, change: CommentChanged): Promise<void> {
  const { repository, issue, actor, action } = change
  if (!startsRuns(context, repository)) return
  const payload = await (await commentChangeEvent(context, change)).payload()
  const events = ['issue_comment', 'pull_request_comment'] as const
  for (const event of issue.isPull ? events : events.slice(0, 1)) {
    await storeChange(context, () => payload, {
      event,
      action,
      repositoryId: repository.id,
      actorId: actor.id,
      title: issue.title,
    })
  }
}

/** Stores a change of a release. If the release exists, the runs are those of its tag. */
export async function storeRelease(context: Context, change: ReleaseChanged): Promise<void> {
  const { repository, release, actor, action } = change
  if (!startsRuns(context, repository)) return
  const { payload } = await releaseChangeEvent(context, change)
  await storeChange(context, payload, {
    event: 'release',
    action,
    repositoryId: repository.id,
    actorId: actor.id,
    title: release.title,
    ...(action === 'deleted' ? {} : { reference: `refs/tags/${release.tagName}` }),
  })
}

/** Maximum number of runs of which each was started by a change of the one before. */
const CHAIN_DEPTH_MAX = 5

/**
 * Stores a change of a run. A faulty run, and one whose jobs are all skipped, starts no other: such
 * runs do not wait, so that nothing would limit their number.
 */
export async function storeRun(context: Context, change: RunChanged): Promise<void> {
  const { repository, run, action } = change
  const hasNeverBegun = run.startedAtMs === undefined && isFinal(run.status)
  if (hasNeverBegun && run.status !== 'cancelled') return
  if (run.chainDepth >= CHAIN_DEPTH_MAX || !startsRuns(context, repository)) return
  await storeChange(context, runEvent(context, change).payload, {
    event: 'workflow_run',
    action,
    repositoryId: repository.id,
    actorId: run.actorId,
    title: run.title,
    chainDepth: run.chainDepth + 1,
  })
}

/** Stores the creation of a fork, as an event of its parent. */
export async function storeFork(context: Context, forked: RepositoryForked): Promise<void> {
  const { repository, actor } = forked
  if (!startsRuns(context, repository)) return
  await storeChange(context, forkEvent(context, forked).payload, {
    event: 'fork',
    action: '',
    repositoryId: repository.id,
    actorId: actor.id,
    title: '',
  })
}

/**
 * Renders the payload of a version of a package now, if it is linked to a repository in which
 * events start runs. The returned function stores the change.
 */
export async function prepareVersion(
  context: Context,
  change: PackageChanged,
): Promise<() => Promise<void>> {
  const { kind, version, grant } = change
  const { repositoryId, packageName } = version
  const repository =
    repositoryId === undefined ? undefined : await findRepositoryById(context.db, repositoryId)
  if (repository === undefined || !startsRuns(context, repository)) return async () => {}
  const payload = await (await packageChangeEvent(context, change))?.payload()
  return () =>
    storeChange(context, () => payload, {
      event: 'registry_package',
      action: kind === 'package_published' ? 'published' : 'deleted',
      repositoryId: repository.id,
      actorId: grant.user?.id,
      title: `${packageName} ${version.version}`,
    })
}
