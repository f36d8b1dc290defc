/** Program of the API's peer: two operations of the API in the usual style of fastify and knex. */

import cluster from 'node:cluster'
import { createHash } from 'node:crypto'
import fastify from 'fastify'
import knex from 'knex'
import { Type } from 'typebox'
import { API_VERSION } from '../../gateway/api/admin/version.js'
import {
  REPOSITORY_OBJECT,
  type RepositoryObject,
} from '../../gateway/objects/repositories/repository-object.js'

/** Repository schema without `parent`, whose reference this server does not define. */
const PARENTLESS = Type.Omit(REPOSITORY_OBJECT, ['parent'])

const [port, processes, databaseFile = '', baseUrl = ''] = process.argv.slice(2)

if (cluster.isPrimary) {
  for (let index = 0; index < Number(processes); index += 1) cluster.fork()
  process.on('SIGTERM', () => process.exit(0))
} else {
  await serve()
}

interface Caller {
  readonly id: number
  readonly isAdmin: boolean
}

/** Row of the query for a repository, with the column names of the product. */
interface Row extends Record<string, string | number | null> {
  readonly owner_id: number
  readonly owner_name: string
  readonly name: string
  readonly preferences: string
  readonly created_at: number
  readonly updated_at: number
}

async function serve(): Promise<void> {
  const db = knex({
    client: 'better-sqlite3',
    connection: { filename: databaseFile },
    useNullAsDefault: true,
  })
  const app = fastify({ logger: false })
  const versionSchema = { type: 'object', properties: { version: { type: 'string' } } }
  app.get('/api/v1/version', { schema: { response: { 200: versionSchema } } }, async () => ({
    version: API_VERSION,
  }))

  const findCaller = async (authorization = ''): Promise<Caller | undefined> => {
    const hash = createHash('sha256').update(authorization.slice('token '.length)).digest('hex')
    const row = await db('tokens')
      .join('users', 'users.owner_id', 'tokens.user_id')
      .where('tokens.hash', hash)
      .first('users.owner_id', 'users.is_admin', 'users.is_active', 'tokens.scopes')
    if (row === undefined || row.is_active === 0) return undefined
    if (!/(?:^|,)(?:all|(?:read|write):repository)(?:,|$)/.test(row.scopes)) return undefined
    return { id: row.owner_id, isAdmin: row.is_admin === 1 }
  }
  const findRepository = async (owner: string, repo: string): Promise<Row | undefined> =>
    await db('repositories as r')
      .join('owners as o', 'o.id', 'r.owner_id')
      .where({ 'o.name_lower': owner.toLowerCase(), 'r.name_lower': repo.toLowerCase() })
      .first(
        'r.*',
        'o.name as owner_name',
        'o.full_name as owner_full_name',
        'o.description as owner_description',
        'o.website as owner_website',
        'o.location as owner_location',
        'o.visibility as owner_visibility',
        'o.created_at as owner_created_at',
      )

  app.get<{ Params: { owner: string; repo: string } }>(
    '/api/v1/repos/:owner/:repo',
    { schema: { response: { 200: PARENTLESS } } },
    async (request, reply) => {
      const caller = await findCaller(request.headers.authorization)
      if (caller === undefined) return reply.code(401).send({ message: 'unknown token' })
      const row = await findRepository(request.params.owner, request.params.repo)
      const isOwner = row?.owner_id === caller.id || caller.isAdmin
      if (row === undefined || (row['is_private'] === 1 && !isOwner)) {
        return reply.code(404).send({ message: 'not found' })
      }
      const [watches] = await db('repository_watches')
        .where({ repository_id: row['id'] })
        .count({ count: '*' })
      return { ...repositoryOf(row, isOwner), watchers_count: Number(watches?.['count'] ?? 0) }
    },
  )
  await app.listen({ port: Number(port), host: '127.0.0.1' })
}

function repositoryOf(row: Row, isOwner: boolean): RepositoryObject {
  const fullName = `${row.owner_name}/${row.name}`
  const url = `${baseUrl}/api/v1/repos/${fullName}`
  const { host, hostname } = new URL(baseUrl)
  return {
    id: Number(row['id']),
    owner: ownerOf(row, hostname),
    name: row.name,
    full_name: fullName,
    html_url: `${baseUrl}/${fullName}`,
    url,
    languages_url: `${url}/languages`,
    clone_url: `${baseUrl}/${fullName}.git`,
    ssh_url: `git@${host.split(':')[0]}:${fullName}.git`,
    description: String(row['description']),
    website: String(row['website']),
    private: row['is_private'] === 1,
    template: row['is_template'] === 1,
    archived: row['is_archived'] === 1,
    archived_at: timeOf(row['archived_at'] ?? 0),
    created_at: timeOf(row.created_at),
    updated_at: timeOf(row.updated_at),
    size: Number(row['size_kib']),
    default_branch: String(row['default_branch']),
    object_format_name: row['object_format'] as RepositoryObject['object_format_name'],
    internal: false,
    empty: row['is_empty'] === 1,
    permissions: { admin: isOwner, push: isOwner, pull: true },
    ...CONSTANT_FIELDS,
    ...JSON.parse(row.preferences),
  }
}

function ownerOf(row: Row, hostname: string): RepositoryObject['owner'] {
  const email = `${row.owner_name.toLowerCase()}@noreply.${hostname}`
  return {
    id: row.owner_id,
    login: row.owner_name,
    username: row.owner_name,
    login_name: '',
    source_id: 0,
    full_name: String(row['owner_full_name']),
    email,
    avatar_url: `${baseUrl}/avatars/${createHash('md5').update(email).digest('hex')}`,
    html_url: `${baseUrl}/${row.owner_name}`,
    language: '',
    is_admin: false,
    last_login: timeOf(0),
    created: timeOf(row['owner_created_at'] ?? 0),
    restricted: false,
    active: false,
    prohibit_login: false,
    location: String(row['owner_location']),
    website: String(row['owner_website']),
    description: String(row['owner_description']),
    visibility: String(row['owner_visibility']),
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
  }
}

function timeOf(value: string | number): string {
  return `${new Date(Number(value)).toISOString().slice(0, 19)}Z`
}

const CONSTANT_FIELDS = {
  fork: false,
  mirror: false,
  mirror_interval: '',
  mirror_updated: '0001-01-01T00:00:00Z',
  language: '',
  link: '',
  original_url: '',
  avatar_url: '',
  stars_count: 0,
  forks_count: 0,
  watchers_count: 0,
  open_issues_count: 0,
  open_pr_counter: 0,
  release_counter: 0,
  has_code: true,
  has_wiki: true,
  has_projects: false,
  projects_mode: 'all',
  has_actions: false,
  internal_tracker: {
    enable_time_tracker: true,
    allow_only_contributors_to_track_time: true,
    enable_issue_dependencies: true,
  },
  topics: [],
  licenses: [],
  has_issues: true,
  has_pull_requests: true,
  has_releases: true,
  has_packages: true,
  ignore_whitespace_conflicts: false,
  allow_merge_commits: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_squash_merge: true,
  allow_fast_forward_only_merge: true,
  allow_rebase_update: true,
  allow_manual_merge: false,
  autodetect_manual_merge: false,
  default_delete_branch_after_merge: false,
  default_allow_maintainer_edit: false,
  default_merge_style: 'merge',
}
