/** Dependencies of issues over the API, seen from the dependent issue and from the other one. */

import { type Static, Type } from 'typebox'
import { type DependencyQuery, listDependencies } from '../../../sql/issues/dependencies.js'
import { changeDependency, type DependencyChange } from '../../actions/issues/change-dependency.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { foundIssueObjects, ISSUE, issueObject } from '../../objects/issues/issue-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { ISSUE_PARAMS } from './issue-params.js'

const ISSUE_META = Type.Object(
  {
    index: Type.Integer(),
    owner: Type.Optional(Type.String({ description: 'absent for the same repository' })),
    repo: Type.Optional(Type.String({ description: 'absent for the same repository' })),
  },
  { $id: 'IssueMeta' },
)

interface DependencyCall {
  readonly action: DependencyChange['action']
  readonly side: DependencyQuery['side']
  readonly params: Readonly<Record<string, string>>
  readonly body: Static<typeof ISSUE_META>
}

/** Changes a dependency; replies with the issue of the path. */
async function changedReply(
  context: Context,
  grant: Grants['repository'],
  { action, side, params, body: named }: DependencyCall,
) {
  const issue = await issueOf(context, grant, params)
  await changeDependency(context, grant, { action, side, issue, named })
  return jsonReply(201, await issueObject(context, grant, issue))
}

interface SideOperations {
  readonly side: DependencyQuery['side']
  /** Id and summary of each operation. */
  readonly list: readonly [id: string, summary: string]
  readonly create: readonly [id: string, summary: string]
  readonly remove: readonly [id: string, summary: string]
}

function sideOperations({ side, ...named }: SideOperations): readonly AnyOperation[] {
  const path = `/repos/{owner}/{repo}/issues/{index}/${side}`
  const common = { path, tags: ['issue'], params: ISSUE_PARAMS }
  const reading = { kind: 'repository', mode: 'read' } as const
  const changing = {
    access: { ...reading, isSignedIn: true, refusesBlocked: true },
    scopes: ['write:issue'],
    query: NO_QUERY,
    body: ISSUE_META,
    success: { status: 201, schema: ISSUE },
  } as const
  return [
    defineOperation({
      ...common,
      id: named.list[0],
      summary: named.list[1],
      method: 'GET',
      access: reading,
      scopes: ['read:issue'],
      query: Type.Object(PAGE_QUERY),
      success: { status: 200, schema: Type.Array(ISSUE) },
      failures: [404],
      async handle(context, { grant, params, query }) {
        const { id, number } = await issueOf(context, grant, params)
        const page = pageOf(query)
        const wanted = { side, page, viewer: viewerOf(grant.who) }
        const { entries, total } = await listDependencies(context.db, id, wanted)
        const objects = await foundIssueObjects(context, entries, grant.user)
        const { owner, name } = grant.repository
        const path = `/repos/${owner.name}/${name}/issues/${number}/${side}`
        return pageReply(context, objects, { path, page, total })
      },
    }),
    defineOperation({
      ...common,
      ...changing,
      id: named.create[0],
      summary: named.create[1],
      method: 'POST',
      failures: [403, 404, 409, 422, 423],
      handle: (context, { grant, params, body }) =>
        changedReply(context, grant, { action: 'add', side, params, body }),
    }),
    defineOperation({
      ...common,
      ...changing,
      id: named.remove[0],
      summary: named.remove[1],
      method: 'DELETE',
      failures: [403, 404, 422, 423],
      handle: (context, { grant, params, body }) =>
        changedReply(context, grant, { action: 'remove', side, params, body }),
    }),
  ]
}

export const DEPENDENCY_OPERATIONS: readonly AnyOperation[] = [
  ...sideOperations({
    side: 'dependencies',
    list: ['issueListIssueDependencies', 'List the issues that this issue depends on'],
    create: ['issueCreateIssueDependencies', 'Make the issue depend on that of the body'],
    remove: ['issueRemoveIssueDependencies', 'Remove an issue dependency'],
  }),
  ...sideOperations({
    side: 'blocks',
    list: ['issueListBlocks', 'List the issues that depend on this issue'],
    create: ['issueCreateIssueBlocking', 'Make the issue of the body depend on this issue'],
    remove: ['issueRemoveIssueBlocking', 'Remove the dependency of the issue of the body'],
  }),
]
