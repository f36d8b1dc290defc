/** Lists of runs and jobs of one repository, of all repositories of an owner, or of the site. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { type Condition, repositoriesVisibleTo, type Viewer } from '../repositories/visibility.js'
import { type RunJob, selectJobs } from './run-jobs.js'
import { filterOf, type Run, type RunPage, selectRuns } from './runs.js'
import type { RunStatus } from './statuses.js'

/** Repositories whose runs are listed. */
export type RunPlace =
  | { readonly kind: 'repository'; readonly id: number }
  /** The owner's repositories whose workflow runs the viewer can read. */
  | { readonly kind: 'owner'; readonly id: number; readonly viewer: Viewer }
  | { readonly kind: 'site' }

/** Maximum number of runs that are counted, and of the newest runs whose jobs are listed. */
const RUNS_MAX = 10_000

/** Returns the runs that match the filter, newest first. The total is at most `RUNS_MAX`. */
export async function listRunsAt(
  db: Database,
  place: RunPlace,
  { filter = {}, ...page }: RunPage,
): Promise<Paged<Run>> {
  const { where, bindings } = conditionAt(place)
  const [filterText, filterBindings] = filterOf(filter)
  const from = `from workflow_runs r where ${where} and ${filterText}`
  const total = await count(db, `select r.id ${from} limit ${RUNS_MAX}`, [
    ...bindings,
    ...filterBindings,
  ])
  const entries = await selectRuns(
    db,
    `r.id in (select p.id from (select r.id ${from} order by r.id desc limit ? offset ?) as p)
      order by r.id desc`,
    [...bindings, ...filterBindings, page.limit, offsetOf(page)],
  )
  return { entries, total }
}

export interface JobPage extends Page {
  /** Statuses of the listed jobs; absent for all. */
  readonly statuses?: readonly RunStatus[] | undefined
}

/** Returns the jobs of the newest attempts of the newest `RUNS_MAX` runs, oldest job first. */
export async function listJobsAt(
  db: Database,
  place: RunPlace,
  { statuses, ...page }: JobPage,
): Promise<Paged<RunJob>> {
  const { where, bindings } = conditionAt(place)
  const isOfStatus = statuses ? `and j.status in (${statuses.map(() => '?').join()})` : ''
  const from = `from workflow_jobs j where j.run_id in (select p.id from (
    select r.id from workflow_runs r where ${where} order by r.id desc limit ${RUNS_MAX}) as p)
    and j.last_attempt is null ${isOfStatus}`
  const all = [...bindings, ...(statuses ?? [])]
  const total = await count(db, `select j.id ${from}`, all)
  const entries = await selectJobs(
    db,
    `j.id in (select q.id from (select j.id ${from} order by j.id limit ? offset ?) as q)
      order by j.id`,
    [...all, page.limit, offsetOf(page)],
  )
  return { entries, total }
}

/** Returns the runs with those ids, by id. */
export async function findRunsById(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Run>> {
  if (ids.length === 0) return new Map()
  const runs = await selectRuns(db, `r.id in (${ids.map(() => '?').join()})`, ids)
  return new Map(runs.map((run) => [run.id, run]))
}

async function count(
  db: Database,
  select: string,
  bindings: Condition['bindings'],
): Promise<number> {
  const text = `select count(*) as total from (${select}) as c`
  const [row] = await selectRows<{ total: number }>(db, text, bindings)
  return Number(row?.total ?? 0)
}

/** Returns the condition of a place for the runs `r`. */
function conditionAt(place: RunPlace): Condition {
  if (place.kind === 'site') return { where: '1 = 1', bindings: [] }
  if (place.kind === 'repository') return { where: 'r.repository_id = ?', bindings: [place.id] }
  const seen = repositoriesVisibleTo(place.viewer, 'actions')
  return {
    where: `r.repository_id in (select r.id from repositories r
      join owners o on o.id = r.owner_id where r.owner_id = ? and ${seen.where})`,
    bindings: [place.id, ...seen.bindings],
  }
}
