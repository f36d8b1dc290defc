/** Jobs that run at intervals over the API, for site administrators. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { listPeriodicDueTimes } from '../../../sql/admin/job-lists.js'
import { goDuration } from '../../objects/repositories/go-duration.js'
import { TIME } from '../../objects/schema.js'
import { apiTime, ZERO_TIME } from '../../objects/times.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'

const CRON = Type.Object(
  {
    name: Type.String(),
    schedule: Type.String(),
    next: TIME,
    prev: TIME,
    exec_times: Type.Integer(),
  },
  { $id: 'Cron' },
)

/** Gitea's names of jobs with the same task. The others have the name of their kind. */
const GITEA_NAMES: Readonly<Record<string, string>> = {
  'clean-all-packages': 'cleanup_packages',
  'prune-repositories': 'git_gc_repos',
  'start-schedules': 'start_schedule_tasks',
  'sweep-artifacts': 'cleanup_actions',
  'sweep-deliveries': 'cleanup_hook_task_table',
  'sync-mirrors': 'update_mirrors',
}

/** Returns the zero time for a job that is not planned yet. */
function timeOf(timeMs: number | undefined): string {
  return timeMs === undefined ? ZERO_TIME : apiTime(timeMs)
}

const list = defineOperation({
  id: 'adminCronList',
  method: 'GET',
  path: '/admin/cron',
  summary: 'List cron tasks',
  tags: ['admin'],
  access: { kind: 'admin' },
  scopes: ['read:admin'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(CRON) },
  failures: [403],
  async handle(context, { query }) {
    const page = pageOf(query)
    const { periodicJobs } = context.upkeep
    const dueAtMs = await listPeriodicDueTimes(context.db)
    const entries = periodicJobs
      .slice((page.page - 1) * page.limit, page.page * page.limit)
      .map(({ kind, everyMs }) => ({
        name: nameOf(kind),
        schedule: `@every ${goDuration(everyMs)}`,
        next: timeOf(dueAtMs.get(kind)),
        // Earlier runs are not recorded.
        prev: ZERO_TIME,
        exec_times: 0,
      }))
    return pageReply(context, entries, { path: '/admin/cron', page, total: periodicJobs.length })
  },
})

const run = defineOperation({
  id: 'adminCronRun',
  method: 'POST',
  path: '/admin/cron/{task}',
  summary: 'Run cron task',
  tags: ['admin'],
  access: { kind: 'admin' },
  scopes: ['write:admin'],
  params: { task: 'task to run' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ upkeep }, { params }) {
    const job = upkeep.periodicJobs.find(({ kind }) => nameOf(kind) === params['task'])
    if (job === undefined) throw notFound()
    await upkeep.enqueuePeriodic(job)
    return { status: 204 }
  },
})

function nameOf(kind: string): string {
  return GITEA_NAMES[kind] ?? kind
}

export const CRON_OPERATIONS: readonly AnyOperation[] = [list, run]
