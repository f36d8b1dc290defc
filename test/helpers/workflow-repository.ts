/** Repositories with workflows, in a gateway of the test's process. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  findRepository,
  type Repository,
  updateRepository,
} from '../../sql/repositories/repositories.js'
import { listJobs, type RunJob } from '../../sql/runs/run-jobs.js'
import { findRun, listRuns, type Run } from '../../sql/runs/runs.js'
import { isFinal } from '../../sql/runs/statuses.js'
import type { GatewayWithUsers } from './gateway-with-users.js'

export interface WorkflowRepository {
  readonly repository: Repository
  /** Commits a workflow file on the default branch, which is an event of its own. */
  commit(text: string, file?: string): Promise<string>
  /** Returns the run with this number, when it exists. */
  run(number: number): Promise<Run>
  /** Returns the run with this number, when it has ended. */
  endedRun(number: number): Promise<Run>
  /** Returns the statuses of a run's jobs by their keys. */
  statuses(number: number): Promise<Readonly<Record<string, string>>>
  jobs(number: number): Promise<readonly RunJob[]>
  /** Returns the first 50 runs in the order of their numbers, when no event waits to be planned. */
  plannedRuns(): Promise<readonly Run[]>
}

/** Creates a repository of ada in which workflows run. */
export async function addWorkflowRepository(
  { as, db }: Pick<GatewayWithUsers, 'as' | 'db'>,
  { name = 'engine', isPrivate = false } = {},
): Promise<WorkflowRepository> {
  await as('ada', 'POST', '/user/repos', { name, auto_init: true, private: isPrivate })
  const repository = await found(async () => findRepository(db, 'ada', name))
  await updateRepository(db, repository.id, { preferences: { has_actions: true } })
  const run = (number: number) => found(() => findRun(db, repository.id, number))
  return {
    repository,
    run,
    async commit(text, file = 'ci.yaml') {
      const path = `/repos/ada/${name}/contents/.gitea/workflows/${file}`
      const content = Buffer.from(text).toString('base64')
      const { json } = await as('ada', 'GET', path)
      const { sha } = (json ?? {}) as { sha?: string }
      const body = { content, message: `Change ${file}`, sha }
      const answer = await as('ada', sha === undefined ? 'POST' : 'PUT', path, body)
      if (answer.status > 201) throw new Error(answer.text)
      return (answer.json as { commit: { sha: string } }).commit.sha
    },
    endedRun: (number) =>
      found(async () => {
        const current = await run(number)
        return isFinal(current.status) ? current : undefined
      }),
    jobs: async (number) => await listJobs(db, (await run(number)).id),
    async plannedRuns() {
      await found(async () => ((await db('workflow_events').first('id')) ? undefined : true))
      const { entries } = await listRuns(db, repository.id, { page: 1, limit: 50 })
      return entries.toReversed()
    },
    async statuses(number) {
      const jobs = await listJobs(db, (await run(number)).id)
      return Object.fromEntries(jobs.map(({ key, status }) => [key, status]))
    },
  }
}

/** Calls `find` until it returns a value. Throws after ten seconds. */
export async function found<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 400; tries += 1) {
    const value = await find()
    if (value !== undefined) return value
    await sleep(25)
  }
  throw new Error('What the test waits for has not happened within ten seconds.')
}
