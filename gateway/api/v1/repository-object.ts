/** The Repository of this API, and the preferences that its owner may set. */

import { type Static, Type } from 'typebox'
import { repositoryPath } from '../../../cgi/paths.js'
import { isEmptyRepository } from '../../../cgi/repository.js'
import { type AccessMode, atLeast } from '../../../sql/access.js'
import { type Repository, updateRepository } from '../../../sql/repositories.js'
import type { Context } from '../../context.js'
import { apiTime, NEVER, ZERO_TIME } from './times.js'
import { ownerObject, USER_OBJECT } from './user-object.js'

const PERMISSION = Type.Object(
  { admin: Type.Boolean(), push: Type.Boolean(), pull: Type.Boolean() },
  { $id: 'Permission' },
)

const INTERNAL_TRACKER = Type.Object(
  {
    enable_time_tracker: Type.Boolean(),
    allow_only_contributors_to_track_time: Type.Boolean(),
    enable_issue_dependencies: Type.Boolean(),
  },
  { $id: 'InternalTracker' },
)

/** What an owner may set on a repository; the schema of each stands in both objects. */
export const PREFERENCES = {
  has_issues: Type.Boolean({ default: true }),
  has_pull_requests: Type.Boolean({ default: true }),
  has_releases: Type.Boolean({ default: true }),
  has_packages: Type.Boolean({ default: true }),
  ignore_whitespace_conflicts: Type.Boolean({ default: false }),
  allow_merge_commits: Type.Boolean({ default: true }),
  allow_rebase: Type.Boolean({ default: true }),
  allow_rebase_explicit: Type.Boolean({ default: true }),
  allow_squash_merge: Type.Boolean({ default: true }),
  allow_fast_forward_only_merge: Type.Boolean({ default: true }),
  allow_rebase_update: Type.Boolean({ default: true }),
  allow_manual_merge: Type.Boolean({ default: false }),
  autodetect_manual_merge: Type.Boolean({ default: false }),
  default_delete_branch_after_merge: Type.Boolean({ default: false }),
  default_allow_maintainer_edit: Type.Boolean({ default: false }),
  default_merge_style: Type.Enum(
    ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'],
    { default: 'merge' },
  ),
}

export const REPOSITORY_OBJECT = Type.Object(
  {
    id: Type.Integer(),
    owner: USER_OBJECT,
    name: Type.String(),
    full_name: Type.String(),
    description: Type.String(),
    empty: Type.Boolean(),
    private: Type.Boolean(),
    fork: Type.Boolean(),
    template: Type.Boolean(),
    mirror: Type.Boolean(),
    size: Type.Integer(),
    language: Type.String(),
    languages_url: Type.String(),
    html_url: Type.String(),
    url: Type.String(),
    link: Type.String(),
    ssh_url: Type.String(),
    clone_url: Type.String(),
    original_url: Type.String(),
    website: Type.String(),
    stars_count: Type.Integer(),
    forks_count: Type.Integer(),
    watchers_count: Type.Integer(),
    open_issues_count: Type.Integer(),
    open_pr_counter: Type.Integer(),
    release_counter: Type.Integer(),
    default_branch: Type.String(),
    archived: Type.Boolean(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
    archived_at: Type.String({ format: 'date-time' }),
    permissions: PERMISSION,
    has_code: Type.Boolean(),
    internal_tracker: INTERNAL_TRACKER,
    has_wiki: Type.Boolean(),
    has_projects: Type.Boolean(),
    projects_mode: Type.String(),
    has_actions: Type.Boolean(),
    ...PREFERENCES,
    avatar_url: Type.String(),
    internal: Type.Boolean(),
    mirror_interval: Type.String(),
    object_format_name: Type.Enum(['sha1', 'sha256']),
    mirror_updated: Type.String({ format: 'date-time' }),
    topics: Type.Array(Type.String()),
    licenses: Type.Array(Type.String()),
  },
  { $id: 'Repository' },
)

export type RepositoryObject = Static<typeof REPOSITORY_OBJECT>
type Preferences = { [K in keyof typeof PREFERENCES]: Static<(typeof PREFERENCES)[K]> }

/** A repository as somebody with that access sees it. */
export async function repositoryObject(
  context: Context,
  repository: Repository,
  mode: AccessMode,
): Promise<RepositoryObject> {
  const { baseUrl } = context.settings.http
  const fullName = `${repository.owner.name}/${repository.name}`
  const url = `${baseUrl}/api/v1/repos/${fullName}`
  const varying = {
    id: repository.id,
    owner: ownerObject(context, repository.owner),
    name: repository.name,
    full_name: fullName,
    html_url: `${baseUrl}/${fullName}`,
    url,
    languages_url: `${url}/languages`,
    clone_url: `${baseUrl}/${fullName}.git`,
    ssh_url: sshUrl(context, fullName),
    description: repository.description,
    website: repository.website,
    private: repository.isPrivate,
    template: repository.isTemplate,
    archived: repository.isArchived,
    archived_at: repository.archivedAtMs === undefined ? NEVER : apiTime(repository.archivedAtMs),
    created_at: apiTime(repository.createdAtMs),
    updated_at: apiTime(repository.updatedAtMs),
    size: repository.sizeKib,
    default_branch: repository.defaultBranch,
    object_format_name: repository.objectFormat,
    internal: !repository.isPrivate && repository.owner.visibility === 'private',
    empty: await isEmpty(context, repository),
    permissions: {
      admin: atLeast(mode, 'admin'),
      push: atLeast(mode, 'write'),
      pull: atLeast(mode, 'read'),
    },
  }
  // So large an object takes ten times as long to be spread from its parts.
  const object = Object.assign(
    ...([{}, NOT_SERVED, PREFERENCE_DEFAULTS, varying, repository.preferences] as const),
  )
  // Nobody can wish for what the house leaves out.
  if (!context.settings.packages.isEnabled) object.has_packages = false
  return object
}

function sshUrl(context: Context, fullName: string): string {
  const { user, host, port } = context.settings.ssh
  if (port === 22) return `${user}@${host}:${fullName}.git`
  return `ssh://${user}@${host}:${port}/${fullName}.git`
}

/** A repository without commits is looked at each time, since git alone knows of a first push. */
async function isEmpty(context: Context, repository: Repository): Promise<boolean> {
  if (!repository.isEmpty) return false
  const path = repositoryPath(context.settings.data.dir, repository.storage)
  const isStillEmpty = await isEmptyRepository(path)
  if (!isStillEmpty) await updateRepository(context.db, repository.id, { isEmpty: false })
  return isStillEmpty
}

/** What the house does not have, in the values that say so. */
const NOT_SERVED = {
  fork: false,
  mirror: false,
  mirror_interval: '',
  mirror_updated: ZERO_TIME,
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
  has_wiki: false,
  has_projects: false,
  projects_mode: 'all',
  has_actions: false,
  internal_tracker: {
    enable_time_tracker: false,
    allow_only_contributors_to_track_time: false,
    enable_issue_dependencies: false,
  },
  topics: [] as string[],
  licenses: [] as string[],
}

const PREFERENCE_DEFAULTS = Object.fromEntries(
  Object.entries(PREFERENCES).map(([name, schema]) => [
    name,
    'default' in schema ? schema.default : undefined,
  ]),
) as Preferences
