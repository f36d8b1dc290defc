/** Subscriber that stores the events that may start workflow runs, and has them planned. */

import { randomUUID } from 'node:crypto'
import { JOBS_USER_ID } from '../../sql/accounts/jobs-user.js'
import type { Owner } from '../../sql/accounts/owners.js'
import { hasPullsElsewhere, listPullsOfHeads } from '../../sql/pulls/pull-lists.js'
import { findPull, type IssueAndPull } from '../../sql/pulls/pulls.js'
import { findRepositoriesById, type Repository } from '../../sql/repositories/repositories.js'
import { NAME_CHARACTERS_MAX } from '../../sql/runs/cut.js'
import { addRunEvent, type NewRunEvent } from '../../sql/runs/events.js'
import { pullReference } from '../actions/pulls/refresh-pulls.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import type { IssueChanged, RefsChanged, Subscriber } from '../request/events.js'

/** Maximum number of refs of one push that start runs. */
const REFERENCES_MAX = 20
/** Maximum number of pull requests whose heads one push has moved. */
const PULLS_MAX = 50

/** Changes of pull requests that may start runs. */
const PULL_EVENTS = ['pull_request', 'pull_request_target'] as const

/** Creates the subscriber of one worker. */
export function createRunSubscriber(context: Context): Subscriber {
  return {
    async handle(event) {
      if (!context.settings.actions.isEnabled) return
      if (event.kind === 'issue_changed') await pullChanged(context, event)
      // A push by a job starts no other one, so that no chain of runs is without end.
      if (event.kind !== 'refs_changed' || event.pusher.id === JOBS_USER_ID) return
      await refsChanged(context, event)
      await headsMoved(context, event)
    },
    async isInterested(place) {
      if (place.kind !== 'refs_changed' || !context.settings.actions.isEnabled) return false
      const { repository } = place
      return hasActions(context, repository) || (await hasPullsElsewhere(context.db, repository.id))
    },
  }
}

async function refsChanged(
  context: Context,
  { repository, pusher, changes, key }: RefsChanged,
): Promise<void> {
  if (!startsRuns(context, repository)) return
  const moved = changes.filter(
    ({ name, after }) =>
      after !== undefined &&
      /^refs\/(?:heads|tags)\//.test(name) &&
      name.length <= NAME_CHARACTERS_MAX,
  )
  for (const { name, before, after } of moved.slice(0, REFERENCES_MAX)) {
    if (after === undefined) continue
    await addEvent(context, {
      event: 'push',
      action: '',
      pullNumber: undefined,
      causeKey: key,
      repositoryId: repository.id,
      reference: name,
      before,
      after,
      actorId: pusher.id,
    })
  }
}

/** Stores events for the open pull requests, in any repository, whose heads have moved. */
async function headsMoved(
  context: Context,
  { repository, pusher, changes, key }: RefsChanged,
): Promise<void> {
  const tips = new Map<string, string>()
  for (const { name, before, after } of changes) {
    const [, branch] = /^refs\/heads\/(.+)$/.exec(name) ?? []
    // A branch that is created again has its pull requests changed too.
    if (branch !== undefined && after !== undefined && after !== before) tips.set(branch, after)
  }
  const branches = [...tips.keys()].slice(0, REFERENCES_MAX)
  const heads = { repositoryId: repository.id, branches }
  const moved = await listPullsOfHeads(context.db, heads, PULLS_MAX)
  const bases = await findRepositoriesById(context.db, [
    ...new Set(moved.map(({ pull }) => pull.repositoryId)),
  ])
  for (const base of bases) {
    for (const entry of moved.filter(({ pull }) => pull.repositoryId === base.id)) {
      const after = tips.get(entry.pull.headBranch) ?? ''
      const change = { entry, action: 'synchronized', after, actor: pusher, causeKey: key }
      await addPullEvents(context, base, change)
    }
  }
}

async function pullChanged(
  context: Context,
  { repository, issue, actor, actions }: IssueChanged,
): Promise<void> {
  if (!issue.isPull || actor.id === JOBS_USER_ID || !startsRuns(context, repository)) return
  const pull = await findPull(context.db, issue.id)
  if (pull === undefined) return
  for (const action of actions) {
    const change = { entry: { issue, pull }, action, after: pull.headCommit, actor }
    await addPullEvents(context, repository, { ...change, causeKey: randomUUID() })
  }
}

interface ChangedPull {
  readonly entry: IssueAndPull
  /** Action in the words of webhooks. */
  readonly action: string
  /** Commit of the head. */
  readonly after: string
  readonly actor: Pick<Owner, 'id'>
  readonly causeKey: string
}

async function addPullEvents(
  context: Context,
  repository: Repository,
  { entry, action, after, actor, causeKey }: ChangedPull,
): Promise<void> {
  if (!startsRuns(context, repository)) return
  const { number } = entry.issue
  for (const event of PULL_EVENTS) {
    await addEvent(context, {
      event,
      action,
      pullNumber: number,
      causeKey,
      repositoryId: repository.id,
      reference: pullReference(number),
      before: undefined,
      after,
      actorId: actor.id,
    })
  }
}

/** True if events of a repository may start runs. */
function startsRuns(context: Context, repository: Repository): boolean {
  const isMirror = repository.source?.mirror !== undefined
  return hasActions(context, repository) && !repository.isArchived && !isMirror
}

async function addEvent(context: Context, event: NewRunEvent): Promise<void> {
  const id = await addRunEvent(context.db, event)
  if (id !== undefined) await context.upkeep.enqueuePlan(id)
}
