/** Domain events that are stored for runs, and those that never are. */

import t from 'tap'
import type { DomainEvent } from '../../../gateway/request/events.js'
import { createRunSubscriber } from '../../../gateway/runs/subscriber.js'
import { JOBS_USER_ID } from '../../../sql/accounts/jobs-user.js'
import { findUserById, type User } from '../../../sql/accounts/users.js'
import { findComment } from '../../../sql/issues/comments.js'
import { findIssue } from '../../../sql/issues/issues.js'
import { findNewestVersion } from '../../../sql/packages/package-lists.js'
import { findPull } from '../../../sql/pulls/pulls.js'
import { findReview } from '../../../sql/pulls/reviews.js'
import { findRelease } from '../../../sql/releases/releases.js'
import {
  findRepositoryById,
  type Repository,
  updateRepository,
} from '../../../sql/repositories/repositories.js'
import { onOneDatabase } from '../../helpers/databases.js'
import { openContext } from '../../helpers/gateway.js'
import { type GatewayWithUsers, startGatewayWithUsers } from '../../helpers/gateway-with-users.js'
import {
  addWorkflowRepository,
  type WorkflowRepository,
} from '../../helpers/workflow-repository.js'

/** Causes one change of each kind over the API, and returns their domain events by an actor. */
async function eventsOf(gateway: GatewayWithUsers, engine: WorkflowRepository) {
  const { id } = engine.repository
  await engine.commit("on: push\njobs: { build: { runs-on: linux, steps: [{ run: 'true' }] } }")
  const run = await engine.run(1)
  const { as, ask, db, ada, authorizationOf } = gateway
  const send = async (path: string, body: object) => {
    const { json, text, status } = await as('ada', 'POST', path, body)
    if (status >= 300) throw new Error(text)
    return json as { id: number; number: number; sha: string; commit: { sha: string } }
  }
  const place = '/repos/ada/engine'
  const file = { content: '', message: 'Work', new_branch: 'work' }
  const after = (await send(`${place}/contents/a`, file)).commit.sha
  const { number } = await send(`${place}/issues`, { title: 'Slow' })
  const said = await send(`${place}/issues/${number}/comments`, { body: 'x' })
  const head = { head: 'work', base: 'main', title: 'Add a' }
  const opened = await send(`${place}/pulls`, head)
  const reviewed = await send(`${place}/pulls/${opened.number}/reviews`, {
    event: 'COMMENT',
    body: 'x',
  })
  const released = await send(`${place}/releases`, { tag_name: 'v1' })
  const authorization = authorizationOf('ada')
  const path = '/api/packages/ada/generic/tool/1/a'
  await ask({ method: 'PUT', path, body: Buffer.from('x'), authorization })
  await as('ada', 'POST', '/packages/ada/generic/tool/-/link/engine')
  const issue = await findIssue(db, id, number)
  const pullIssue = await findIssue(db, id, opened.number)
  const pull = pullIssue && (await findPull(db, pullIssue.id))
  const review = pull && (await findReview(db, pull.id, reviewed.id))
  const comment = await findComment(db, id, said.id)
  const release = await findRelease(db, id, released.id)
  const version = await findNewestVersion(db, { ownerId: ada.id })
  if (!(issue && pullIssue && review && comment && release && version)) throw new Error('no row')
  return (repository: Repository, actor: User): readonly DomainEvent[] => {
    const by = { repository, actor }
    const grant = { who: { kind: 'user', user: actor }, user: actor, owner: ada } as never
    const [name, key] = ['refs/heads/work', 'a push']
    const create = { name, before: undefined, after }
    const remove = { name, before: after, after: undefined }
    const changes = { changes: [create, remove], key }
    return [
      { kind: 'refs_changed', repository, pusher: actor, ...changes },
      { kind: 'issue_changed', ...by, issue, actions: ['closed'] },
      { kind: 'issue_changed', ...by, issue: pullIssue, actions: ['closed'] },
      { kind: 'comment_changed', ...by, issue, action: 'deleted', comment },
      { kind: 'comment_changed', ...by, issue: pullIssue, action: 'created', comment },
      { kind: 'review_submitted', ...by, issue: pullIssue, review },
      { kind: 'review_requested', ...by, issue: pullIssue, reviewers: [ada] },
      { kind: 'release_changed', ...by, action: 'published', release },
      { kind: 'repository_forked', ...by, fork: repository },
      { kind: 'run_changed', repository, run: { ...run, actorId: actor.id }, action: 'requested' },
      { kind: 'package_published', version, grant },
      { kind: 'package_deleted', version, grant },
    ]
  }
}

await onOneDatabase(
  t,
  'what jobs do, and changes of archived repositories and mirrors, are not stored',
  async (t, location) => {
    const gateway = await startGatewayWithUsers(t, { location })
    const { ada, db, settings } = gateway
    const engine = await addWorkflowRepository(gateway)
    const { id } = engine.repository
    const events = await eventsOf(gateway, engine)
    await engine.plannedRuns()
    const { context } = await openContext(t, { location: settings.database.location })
    let stored = 0
    const upkeep = {
      ...context.upkeep,
      // The events are counted, not planned.
      enqueuePlan: async () => {
        stored += 1
      },
    }
    const subscriber = createRunSubscriber({ ...context, settings, upkeep })
    const publish = async (event: DomainEvent) => {
      stored = 0
      const action = await subscriber.prepare?.(event)
      await (event.kind === 'package_deleted' ? action?.() : subscriber.handle(event))
      return stored
    }
    const jobs = await findUserById(db, JOBS_USER_ID)
    const repository = await findRepositoryById(db, id)
    if (jobs === undefined || repository === undefined) throw new Error('no row')
    const counts: Record<string, number> = {}
    for (const event of events(repository, ada)) {
      counts[event.kind] = (counts[event.kind] ?? 0) + (await publish(event))
    }
    t.strictSame(
      counts,
      {
        // A push, a creation, a deletion, and two for the pull request.
        refs_changed: 5,
        issue_changed: 3,
        comment_changed: 3,
        review_submitted: 2,
        review_requested: 2,
        release_changed: 1,
        repository_forked: 1,
        run_changed: 1,
        package_published: 1,
        package_deleted: 1,
      },
      'changes of a user are stored',
    )
    for (const event of events(repository, jobs)) {
      t.equal(await publish(event), 0, `${event.kind} by a job`)
    }
    const mirror = { url: 'https://x.example', mirror: { intervalMs: 1, syncedAtMs: 1 } }
    const variants: Readonly<Record<string, Partial<Repository>>> = {
      'an archived repository': { isArchived: true },
      'a repository without Actions': { preferences: { has_actions: false } },
      'a mirror': { source: mirror },
    }
    for (const [variant, fields] of Object.entries(variants)) {
      for (const event of events({ ...repository, ...fields }, ada)) {
        // The head of the pull request is in another repository then, which has its own row.
        if (event.kind === 'refs_changed' || 'grant' in event) continue
        t.equal(await publish(event), 0, `${event.kind} of ${variant}`)
      }
    }
    await updateRepository(db, id, { isArchived: true })
    for (const event of events({ ...repository, isArchived: true }, ada)) {
      t.equal(await publish(event), 0, `${event.kind} after the repository was archived`)
    }
  },
)
