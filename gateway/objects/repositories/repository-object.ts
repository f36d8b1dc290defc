/** The Repository of this API, and the preferences that its owner can set. */

import { type Static, Type } from 'typebox'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { diskFailureOf } from '../../../conf/disk-failure.js'
import { countOpenIssues } from '../../../sql/issues/issues.js'
import { countReleases } from '../../../sql/releases/releases.js'
import {
  type AccessMode,
  atLeast,
  everyUnit,
  type RepositoryModes,
} from '../../../sql/repositories/access.js'
import {
  findRepositoriesById,
  type Repository,
  updateRepository,
} from '../../../sql/repositories/repositories.js'
import {
  findRepositoryFacts,
  type RepositoryFacts,
} from '../../../sql/repositories/repository-facts.js'
import { cloneUrl, sshUrl } from '../../actions/repositories/clone-urls.js'
import { hasActions } from '../../actions/repositories/has-actions.js'
import { ANONYMOUS, type Identity } from '../../auth/authenticate.js'
import { accessToLinked, accessToListed } from '../../auth/authorize-repository.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { repositoryAvatarUrl } from '../accounts/avatar-address.js'
import { ownerObject, USER_OBJECT } from '../accounts/user-object.js'
import { omissible } from '../schema.js'
import { apiTime, NEVER, ZERO_TIME } from '../times.js'
import { goDuration } from './go-duration.js'
import { REPO_TRANSFER_OBJECT, repoTransferObject } from './repository-transfer-object.js'

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

/**
 * Preferences that an owner can set; the schemas of the Repository and of the body that edits it
 * contain them.
 */
export const PREFERENCES = {
  has_issues: Type.Boolean({ default: true }),
  has_pull_requests: Type.Boolean({ default: true }),
  has_releases: Type.Boolean({ default: true }),
  has_wiki: Type.Boolean({ default: true }),
  has_packages: Type.Boolean({ default: true }),
  has_actions: Type.Boolean({ default: false }),
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
    parent: omissible(Type.Unsafe<object>({ $ref: '#/definitions/Repository' })),
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
    has_projects: Type.Boolean(),
    projects_mode: Type.String(),
    ...PREFERENCES,
    avatar_url: Type.String(),
    internal: Type.Boolean(),
    mirror_interval: Type.String(),
    object_format_name: Type.Enum(['sha1', 'sha256']),
    mirror_updated: Type.String({ format: 'date-time' }),
    topics: Type.Array(Type.String()),
    licenses: Type.Array(Type.String()),
    repo_transfer: omissible(REPO_TRANSFER_OBJECT),
  },
  { $id: 'Repository' },
)

export type RepositoryObject = Static<typeof REPOSITORY_OBJECT>
type Preferences = { [K in keyof typeof PREFERENCES]: Static<(typeof PREFERENCES)[K]> }

/**
 * Returns a repository as a caller sees it with that access, which can be the same for all units.
 * The parent is included only if an anonymous client can see it.
 */
export async function repositoryObject(
  context: Context,
  repository: Repository,
  access: RepositoryModes | AccessMode,
): Promise<RepositoryObject> {
  const modes = typeof access === 'string' ? everyUnit(access) : access
  return await onlyObject(context, { repository, modes, who: ANONYMOUS })
}

/**
 * Returns a repository as `who`, with that access to it, sees it, and its parent if `who` can see
 * that.
 */
export async function visibleRepositoryObject(
  context: Context,
  { repository, modes, who }: Pick<Seen, 'who'> & ViewedRepository,
): Promise<RepositoryObject> {
  return await onlyObject(context, { repository, modes, who })
}

/** Returns the repositories of a list as `who` sees them. All of them must be visible to `who`. */
export async function repositoryObjects(
  context: Context,
  repositories: readonly Repository[],
  who: Identity,
): Promise<readonly RepositoryObject[]> {
  const modes = await accessToListed(context.db, who, repositories)
  const views = repositories.map((repository) => ({
    repository,
    modes: modes.get(repository.id) ?? everyUnit('none'),
  }))
  return await objectsOf(context, { views, who })
}

/** A repository, and a caller's access to it. */
interface ViewedRepository {
  readonly repository: Repository
  readonly modes: RepositoryModes
}

interface Seen {
  readonly views: readonly ViewedRepository[]
  readonly who: Identity
}

async function onlyObject(
  context: Context,
  { repository, modes, who }: ViewedRepository & Pick<Seen, 'who'>,
): Promise<RepositoryObject> {
  const [object] = await objectsOf(context, { views: [{ repository, modes }], who })
  if (object === undefined) throw new Error('the repository has no object')
  return object
}

async function objectsOf(
  context: Context,
  { views, who }: Seen,
): Promise<readonly RepositoryObject[]> {
  const ids = views.map(({ repository }) => repository.id)
  const factsOf = await readFacts(context, ids)
  const parentIds = new Set(ids.flatMap((id) => factsOf(id).parentId ?? []))
  const parents = await parentObjects(context, [...parentIds], who)
  return await Promise.all(
    views.map(async (view) => {
      const facts = factsOf(view.repository.id)
      const object = await plainObject(context, view, facts)
      const { repository, modes } = view
      const transfer = facts.isOffered
        ? await repoTransferObject(context, repository.id, { modes, who })
        : undefined
      if (transfer !== undefined) object.repo_transfer = transfer
      const parent = facts.parentId === undefined ? undefined : parents.get(facts.parentId)
      return parent === undefined ? object : Object.assign(object, { parent })
    }),
  )
}

/** Returns the parents that `who` can see, by id, without parents of their own. */
async function parentObjects(
  context: Context,
  parentIds: readonly number[],
  who: Identity,
): Promise<ReadonlyMap<number, RepositoryObject>> {
  const parents = new Map<number, RepositoryObject>()
  const factsOf = await readFacts(context, parentIds)
  for (const repository of await findRepositoriesById(context.db, parentIds)) {
    const modes = await accessToLinked(context.db, who, repository)
    if (modes.any === 'none') continue
    const object = await plainObject(context, { repository, modes }, factsOf(repository.id))
    parents.set(repository.id, object)
  }
  return parents
}

/** Facts about a repository that are in other tables. */
interface OtherFacts extends RepositoryFacts {
  readonly open: { readonly issues: number; readonly pulls: number }
  readonly releases: number
}

async function readFacts(
  { db }: Context,
  ids: readonly number[],
): Promise<(id: number) => OtherFacts> {
  const [factsOf, openOf] = [await findRepositoryFacts(db, ids), await countOpenIssues(db, ids)]
  const releasesOf = await countReleases(db, ids)
  return (id) => ({ ...factsOf(id), open: openOf(id), releases: releasesOf(id) })
}

async function plainObject(
  context: Context,
  { repository, modes }: ViewedRepository,
  facts: OtherFacts,
): Promise<RepositoryObject> {
  const { baseUrl } = context.settings.http
  const fullName = `${repository.owner.name}/${repository.name}`
  const url = `${baseUrl}/api/v1/repos/${fullName}`
  const varying = {
    id: repository.id,
    owner: ownerObject(context, repository.owner),
    avatar_url: repositoryAvatarUrl(context, repository),
    name: repository.name,
    full_name: fullName,
    html_url: `${baseUrl}/${fullName}`,
    url,
    languages_url: `${url}/languages`,
    clone_url: cloneUrl(context.settings, fullName),
    ssh_url: sshUrl(context.settings, fullName),
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
    ...sourceFields(repository),
    internal: !repository.isPrivate && repository.owner.visibility === 'private',
    open_issues_count: facts.open.issues,
    open_pr_counter: facts.open.pulls,
    release_counter: facts.releases,
    empty: await isEmpty(context, repository),
    fork: facts.parentId !== undefined,
    forks_count: facts.forks,
    stars_count: facts.stars,
    watchers_count: facts.watchers,
    topics: [...facts.topics],
    permissions: {
      admin: atLeast(modes.any, 'admin'),
      push: atLeast(modes.code, 'write'),
      pull: atLeast(modes.code, 'read'),
    },
  }
  // For an object of this size, spread syntax takes ten times as long as Object.assign.
  const object = Object.assign(
    ...([{}, NOT_SERVED, PREFERENCE_DEFAULTS, varying, repository.preferences] as const),
  )
  // The settings of the server take precedence over the repository's preferences.
  if (!context.settings.packages.isEnabled) object.has_packages = false
  object.has_actions = hasActions(context, repository)
  return object
}

function sourceFields({ source }: Repository) {
  const mirror = source?.mirror
  return {
    original_url: source?.url ?? '',
    mirror: mirror !== undefined,
    mirror_interval: mirror === undefined ? '' : goDuration(mirror.intervalMs),
    mirror_updated: mirror === undefined ? ZERO_TIME : apiTime(mirror.syncedAtMs),
  }
}

/**
 * Returns true if the repository has no commits. If it had none before, it is read again each time,
 * because only git knows of a first push.
 */
async function isEmpty(context: Context, repository: Repository): Promise<boolean> {
  if (!repository.isEmpty) return false
  const path = repositoryPathOf(context, repository)
  const isStillEmpty = await isEmptyRepository(path)
  if (!isStillEmpty) {
    // If the disk fails, a later request stores the change.
    await updateRepository(context.db, repository.id, { isEmpty: false }).catch(
      (error: unknown) => {
        if (diskFailureOf(error) === undefined) throw error
      },
    )
  }
  return isStillEmpty
}

/** Values of fields whose features are not supported. */
const NOT_SERVED = {
  language: '',
  link: '',
  has_code: true,
  has_projects: false,
  projects_mode: 'all',
  internal_tracker: {
    enable_time_tracker: true,
    allow_only_contributors_to_track_time: true,
    enable_issue_dependencies: true,
  },
  licenses: [] as string[],
}

const PREFERENCE_DEFAULTS = Object.fromEntries(
  Object.entries(PREFERENCES).map(([name, schema]) => [
    name,
    'default' in schema ? schema.default : undefined,
  ]),
) as Preferences
