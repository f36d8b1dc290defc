/** Dependencies of issues over the API, seen from the dependent issue and from the other one. */

import { type Static, Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  addDependency,
  type DependencyQuery,
  listDependencies,
  removeDependency,
} from '../../../sql/issues/dependencies.js'
import { findIssue, type Issue } from '../../../sql/issues/issues.js'
import { atLeast, type RepositoryModes } from '../../../sql/repositories/access.js'
import { findRepository, type Repository } from '../../../sql/repositories/repositories.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { isServed, issueOf, unitOfKind } from '../../actions/issues/issue-access.js'
import { issueChanged } from '../../actions/issues/issue-changed.js'
import type { Grants } from '../../auth/authorize.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import { viewerOf } from '../../auth/refusals.js'
import { foundIssueObjects, ISSUE, issueObject } from '../../objects/issues/issue-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { ISSUE_PARAMS } from './issue-params.js'

type Grant = Grants['repository']

const ISSUE_META = Type.Object(
  {
    index: Type.Integer(),
    owner: Type.Optional(Type.String({ description: 'absent for the same repository' })),
    repo: Type.Optional(Type.String({ description: 'absent for the same repository' })),
  },
  { $id: 'IssueMeta' },
)

/** An issue with its repository and the caller's access to it. */
interface Side {
  readonly issue: Issue
  readonly repository: Repository
  readonly modes: RepositoryModes
}

/** Returns the issue that the body names. Throws `not_found` also if the caller cannot read it. */
async function namedSide(
  context: Context,
  grant: Grant,
  { index, owner, repo }: Static<typeof ISSUE_META>,
): Promise<Side> {
  const isHere = owner === undefined && repo === undefined
  const { repository: here } = grant
  const repository = isHere
    ? here
    : await findRepository(context.db, owner ?? here.owner.name, repo ?? here.name)
  if (repository === undefined) throw notFound()
  const issue = await findIssue(context.db, repository.id, index)
  if (issue === undefined || !isServed(repository, issue)) throw notFound()
  const isSame = repository.id === here.id
  const modes = isSame ? grant.modes : await accessToLinked(context.db, grant.who, repository)
  if (!atLeast(modes[unitOfKind(issue.isPull)], 'read')) throw notFound()
  return { issue, repository, modes }
}

interface DependencyChange {
  readonly side: DependencyQuery['side']
  readonly params: Readonly<Record<string, string>>
  readonly body: Static<typeof ISSUE_META>
}

/**
 * Applies a change to the dependency between the issue of the path and that of the body, and
 * returns the issue of the path. Throws `not_found` unless the caller can write to the dependent
 * issue, as Gitea does.
 */
async function changeDependency(
  context: Context,
  grant: Grant,
  { side, params, body }: DependencyChange,
  change: typeof addDependency,
) {
  const actor = actingUserOf(grant)
  const { repository, modes } = grant
  const own: Side = { issue: await issueOf(context, grant, params), repository, modes }
  const named = await namedSide(context, grant, body)
  const [target, dependency] = side === 'dependencies' ? [own, named] : [named, own]
  const isWriter = atLeast(target.modes[unitOfKind(target.issue.isPull)], 'write')
  if (!isWriter || target.repository.isArchived) throw notFound()
  const ids = { issueId: target.issue.id, dependencyId: dependency.issue.id }
  await change(context.db, ids, actor.id)
  for (const each of [target, dependency]) {
    const { repository: of, issue } = each
    await issueChanged(context, { repository: of, issue, actor, actions: [] })
  }
  return jsonReply(201, await issueObject(context, grant, own.issue))
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
        changeDependency(context, grant, { side, params, body }, addDependency),
    }),
    defineOperation({
      ...common,
      ...changing,
      id: named.remove[0],
      summary: named.remove[1],
      method: 'DELETE',
      failures: [403, 404, 422, 423],
      handle: (context, { grant, params, body }) =>
        changeDependency(context, grant, { side, params, body }, removeDependency),
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
