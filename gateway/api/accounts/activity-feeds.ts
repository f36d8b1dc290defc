/** Activity feeds of users, organizations, teams and repositories over the API, and heatmaps. */

import { Type } from 'typebox'
import type { Reply } from '../../../conf/http.js'
import {
  type ActivityScope,
  countActivities,
  listActivities,
} from '../../../sql/accounts/activities.js'
import { findUserSettings } from '../../../sql/accounts/user-changes.js'
import type { Database } from '../../../sql/database/database.js'
import type { Identity } from '../../auth/authenticate.js'
import { viewerOf } from '../../auth/refusals.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { ACTIVITY, activityObjects } from '../../objects/accounts/activity-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const FEED_QUERY = {
  date: Type.Optional(Type.String({ description: 'the date of the activities to be found' })),
  ...PAGE_QUERY,
}

const FEED = { status: 200, schema: Type.Array(ACTIVITY) } as const

const ofUser = defineOperation({
  id: 'userListActivityFeeds',
  method: 'GET',
  path: '/users/{username}/activities/feeds',
  summary: "List a user's activity feeds",
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user', 'read:repository'],
  params: { username: 'username of the user whose activity feeds are to be listed' },
  query: Type.Object({
    'only-performed-by': Type.Optional(
      Type.Boolean({
        description: 'if true, only show actions performed by the requested user',
      }),
    ),
    ...FEED_QUERY,
  }),
  success: FEED,
  failures: [404],
  async handle(context, { grant: { who }, params, query }) {
    const viewer = who.kind === 'user' ? who.user : undefined
    const user = await findVisibleUser(context.db, params['username'] ?? '', viewer)
    const isOwnOnly = query['only-performed-by'] ?? false
    const feed: Feed = {
      who,
      ownerId: user.id,
      scope: { kind: 'user', userId: user.id, isOwnOnly },
      path: `/users/${user.name}/activities/feeds`,
      query: isOwnOnly ? { 'only-performed-by': 'true' } : {},
    }
    if (await isHidden(context.db, user.id, who)) return emptyPage(context, query, feed)
    return await feedPage(context, query, feed)
  },
})

const ofOrganization = defineOperation({
  id: 'orgListActivityFeeds',
  method: 'GET',
  path: '/orgs/{org}/activities/feeds',
  summary: "List an organization's activity feeds",
  tags: ['organization'],
  access: { kind: 'organization', role: 'visible' },
  scopes: ['read:organization', 'read:repository'],
  params: { org: 'name of the org' },
  query: Type.Object(FEED_QUERY),
  success: FEED,
  failures: [404],
  handle: (context, { grant: { who, organization }, query }) =>
    feedPage(context, query, {
      who,
      ownerId: organization.id,
      scope: { kind: 'owner', ownerId: organization.id },
      path: `/orgs/${organization.name}/activities/feeds`,
    }),
})

const ofTeam = defineOperation({
  id: 'orgListTeamActivityFeeds',
  method: 'GET',
  path: '/teams/{id}/activities/feeds',
  summary: "List a team's activity feeds",
  tags: ['organization'],
  access: { kind: 'team', role: 'member' },
  scopes: ['read:organization', 'read:repository'],
  params: { id: 'id of the team' },
  query: Type.Object(FEED_QUERY),
  success: FEED,
  failures: [403, 404],
  handle: (context, { grant: { who, team, organization }, query }) =>
    feedPage(context, query, {
      who,
      ownerId: organization.id,
      scope: { kind: 'team', teamId: team.id },
      path: `/teams/${team.id}/activities/feeds`,
    }),
})

const ofRepository = defineOperation({
  id: 'repoListActivityFeeds',
  method: 'GET',
  path: '/repos/{owner}/{repo}/activities/feeds',
  summary: "List a repository's activity feeds",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'any' },
  scopes: ['read:repository'],
  params: { owner: 'owner of the repo', repo: 'name of the repo' },
  query: Type.Object(FEED_QUERY),
  success: FEED,
  failures: [404],
  handle: (context, { grant: { who, repository }, query }) =>
    feedPage(context, query, {
      who,
      ownerId: repository.owner.id,
      scope: { kind: 'repository', repositoryId: repository.id },
      path: `/repos/${repository.owner.name}/${repository.name}/activities/feeds`,
    }),
})

interface Feed {
  readonly who: Identity
  readonly ownerId: number
  readonly scope: ActivityScope
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
}

interface FeedQuery {
  readonly date?: string
  readonly page?: number
  readonly limit?: number
}

async function feedPage(
  context: Context,
  { date, ...query }: FeedQuery,
  { who, ownerId, scope, path, query: given }: Feed,
): Promise<Reply> {
  const page = pageOf(query)
  const search = { scope, viewer: viewerOf(who), ...dayOf(date) }
  const { entries, total } = await listActivities(context.db, search, page)
  const objects = await activityObjects(context, entries, { who, ownerId })
  return pageReply(context, objects, { path, query: { ...given, date }, page, total })
}

function emptyPage(context: Context, query: FeedQuery, { path }: Pick<Feed, 'path'>): Reply {
  return pageReply(context, [], { path, page: pageOf(query), total: 0 })
}

const DAY_MS = 86_400_000

/** Returns the limits of a day in UTC; without limits for a text that is not a date. */
function dayOf(date = ''): { readonly fromMs?: number; readonly beforeMs?: number } {
  const fromMs = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  return Number.isNaN(fromMs) ? {} : { fromMs, beforeMs: fromMs + DAY_MS }
}

/** True if the user hides activities from the caller. */
async function isHidden(db: Database, userId: number, who: Identity): Promise<boolean> {
  if (who.kind === 'user' && (who.user.id === userId || who.user.isAdmin)) return false
  return (await findUserSettings(db, userId))['hide_activity'] === true
}

const HEATMAP_DATA = Type.Object(
  { timestamp: Type.Integer(), contributions: Type.Integer() },
  { $id: 'UserHeatmapData' },
)

/** A year, and a week that the first column of a heatmap shows. */
const HEATMAP_MS = 373 * DAY_MS

const heatmap = defineOperation({
  id: 'userGetHeatmapData',
  method: 'GET',
  path: '/users/{username}/heatmap',
  summary: "Get a user's heatmap",
  tags: ['user'],
  access: { kind: 'anyone' },
  scopes: ['read:user', 'read:repository'],
  params: { username: 'username of the user whose heatmap is to be obtained' },
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(HEATMAP_DATA) },
  failures: [404],
  async handle({ db }, { grant: { who }, params }) {
    const viewer = who.kind === 'user' ? who.user : undefined
    const { id } = await findVisibleUser(db, params['username'] ?? '', viewer)
    if (await isHidden(db, id, who)) return jsonReply(200, [])
    const counts = await countActivities(db, {
      scope: { kind: 'user', userId: id, isOwnOnly: true },
      viewer: viewerOf(who),
      fromMs: Date.now() - HEATMAP_MS,
    })
    return jsonReply(
      200,
      counts.map(({ startMs, count }) => ({ timestamp: startMs / 1_000, contributions: count })),
    )
  },
})

export const ACTIVITY_OPERATIONS: readonly AnyOperation[] = [
  ofUser,
  ofOrganization,
  ofTeam,
  ofRepository,
  heatmap,
]
