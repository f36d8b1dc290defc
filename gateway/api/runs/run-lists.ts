/** Lists of runs and jobs over the API: of an organization, the caller, the site, a repository. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { listJobsAt, listRunsAt, type RunPlace } from '../../../sql/runs/run-lists.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import type { AccessKind, Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { JOBS, listedJobObjects } from '../../objects/runs/job-object.js'
import { listedRunObjects, RUNS } from '../../objects/runs/run-object.js'
import type { Context } from '../../request/context.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation, type Operation } from '../operation.js'
import { PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import {
  filterFields,
  JOB_FILTER_QUERY,
  RUN_FILTER_QUERY,
  runFilterOf,
  statusesOf,
} from './run-filter.js'

/** Differences between the lists of each kind of place. */
interface Lists<K extends AccessKind>
  extends Pick<Operation<K>, 'path' | 'access' | 'params' | 'scopes' | 'tags'> {
  /** Id and summary of the list of runs; absent if another file has that list. */
  readonly runs?: readonly [id: string, summary: string]
  readonly jobs: readonly [id: string, summary: string]
  /** Returns the place, and its path below `/api/v1`. Throws `not_found` if it has no Actions. */
  locate(context: Context, grant: Grants[K]): { readonly place: RunPlace; readonly path: string }
}

function listsOf<K extends AccessKind>(home: Lists<K>): readonly AnyOperation[] {
  const { access, params, scopes, tags, runs, jobs, locate } = home
  const common = { method: 'GET', access, params, scopes, tags } as const
  const jobList = defineOperation({
    ...common,
    id: jobs[0],
    summary: jobs[1],
    path: `${home.path}/jobs`,
    query: Type.Object({ ...JOB_FILTER_QUERY, ...PAGE_QUERY }),
    success: { status: 200, schema: JOBS },
    failures: [400, 403, 404],
    async handle(context, { grant, query }) {
      const { place, path } = locate(context, grant)
      const { status } = query
      const page = pageOf(query)
      const statuses = status ? statusesOf(status) : undefined
      const { entries, total } = await listJobsAt(context.db, place, { ...page, statuses })
      return pageReply(context, await listedJobObjects(context, entries), {
        path: `${path}/jobs`,
        query: { status },
        page,
        total,
        wrap: (listed) => ({ total_count: total, jobs: listed }),
      })
    },
  })
  if (runs === undefined) return [jobList]
  const runList = defineOperation({
    ...common,
    id: runs[0],
    summary: runs[1],
    path: `${home.path}/runs`,
    query: Type.Object({ ...RUN_FILTER_QUERY, ...PAGE_QUERY }),
    success: { status: 200, schema: RUNS },
    failures: [400, 403, 404],
    async handle(context, { grant, query }) {
      const { place, path } = locate(context, grant)
      const { who } = grant
      const user = who.kind === 'user' ? who.user : undefined
      const filter = await runFilterOf(context, query, user)
      const page = pageOf(query)
      const { entries, total } = await listRunsAt(context.db, place, { ...page, filter })
      return pageReply(context, await listedRunObjects(context, who, entries), {
        path: `${path}/runs`,
        query: filterFields(query),
        page,
        total,
        wrap: (listed) => ({ total_count: total, workflow_runs: listed }),
      })
    },
  })
  return [runList, jobList]
}

/** Throws `not_found` if the site has no Actions. */
function refuseSiteWithoutActions({ settings }: Context): void {
  if (!settings.actions.isEnabled) throw notFound()
}

const ofRepository = listsOf({
  path: '/repos/{owner}/{repo}/actions',
  access: { kind: 'repository', mode: 'read', area: 'actions' },
  params: REPOSITORY_PARAMS,
  scopes: ['read:repository'],
  tags: ['repository'],
  jobs: ['listWorkflowJobs', 'Lists all jobs for a repository'],
  locate(context, { repository }) {
    refuseWithoutActions(context, repository)
    const { id, owner, name } = repository
    return { place: { kind: 'repository', id }, path: `/repos/${owner.name}/${name}/actions` }
  },
})

const ofOrganization = listsOf({
  path: '/orgs/{org}/actions',
  access: { kind: 'organization', role: 'member' },
  params: { org: 'name of the organization' },
  scopes: ['read:organization'],
  tags: ['organization'],
  runs: ['getOrgWorkflowRuns', 'Get org-level workflow runs'],
  jobs: ['getOrgWorkflowJobs', 'Get org-level workflow jobs'],
  locate(context, { organization: { id, name }, who }) {
    refuseSiteWithoutActions(context)
    return {
      place: { kind: 'owner', id, viewer: viewerOf(who) },
      path: `/orgs/${name}/actions`,
    }
  },
})

const ofUser = listsOf({
  path: '/user/actions',
  access: { kind: 'signed-in' },
  params: {},
  scopes: ['read:user'],
  tags: ['user'],
  runs: ['getUserWorkflowRuns', 'Get workflow runs'],
  jobs: ['getUserWorkflowJobs', 'Get workflow jobs'],
  locate(context, { user: { id }, who }) {
    refuseSiteWithoutActions(context)
    return { place: { kind: 'owner', id, viewer: viewerOf(who) }, path: '/user/actions' }
  },
})

const ofSite = listsOf({
  path: '/admin/actions',
  access: { kind: 'admin' },
  params: {},
  scopes: ['read:admin'],
  tags: ['admin'],
  runs: ['listAdminWorkflowRuns', 'Lists all runs'],
  jobs: ['listAdminWorkflowJobs', 'Lists all jobs'],
  locate(context) {
    refuseSiteWithoutActions(context)
    return { place: { kind: 'site' }, path: '/admin/actions' }
  },
})

export const RUN_LIST_OPERATIONS: readonly AnyOperation[] = [
  ...ofRepository,
  ...ofOrganization,
  ...ofUser,
  ...ofSite,
]
