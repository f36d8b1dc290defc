/** Authorization for repositories, and for attachments of their releases, issues and comments. */

import { Failure, notFound } from '../../conf/failures.js'
import type { JobArea } from '../../conf/job-permissions.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { JOBS_USER_ID } from '../../sql/accounts/jobs-user.js'
import { findUserById, type User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import { findComment } from '../../sql/issues/comments.js'
import {
  findIssueAttachmentByUuid,
  type IssueAttachment,
} from '../../sql/issues/issue-attachments.js'
import { findIssue, type Issue } from '../../sql/issues/issues.js'
import { type Attachment, findAttachmentByUuid } from '../../sql/releases/attachments.js'
import {
  type AccessMode,
  accessToRepositories,
  accessToRepository,
  atLeast,
  atMostInEachUnit,
  everyUnit,
  type RepositoryModes,
} from '../../sql/repositories/access.js'
import { deployKeyAccess } from '../../sql/repositories/deploy-keys.js'
import {
  findRedirect,
  findRepository,
  findRepositoryById,
  type Repository,
} from '../../sql/repositories/repositories.js'
import type { RepositoryUnit } from '../../sql/repositories/team-units.js'
import { hasWiki, wikiOf } from '../../sql/repositories/wikis.js'
import { type Identity, ticketUseOf } from './authenticate.js'
import { refuseBlockedBy } from './authorize-blocked.js'
import { callerAt, isLimited, limited } from './limits.js'
import { holdsPublicOnly, readId, refuseAnonymous, refusePublicOnly } from './refusals.js'
import type { Scope } from './scopes.js'

export interface RepositoryNeed {
  readonly mode: Exclude<AccessMode, 'none'>
  /** True if the path names the repository by `{id}`. */
  readonly isById?: true
  /** True if the path names the repository by `{template_owner}/{template_repo}`. */
  readonly isTemplate?: true
  /** True if anonymous callers are refused, also for public data. */
  readonly isSignedIn?: true
  /**
   * True if users are refused whom the owner of the repository blocks, or the author of the issue
   * that the path names; not if they administer the repository.
   */
  readonly refusesBlocked?: true
  /** True if the route changes Git data, which is refused for a mirror. */
  readonly changesGit?: true
  /** Area whose permission a job needs; by default, the one that follows from the scopes. */
  readonly area?: JobArea
  /** Unit to which users need access; by default, that of the area. */
  readonly unit?: RouteUnit
  /** True if `{repo}` with the suffix `.wiki` names a wiki; the unit is `wiki` then. */
  readonly mayBeWiki?: true
  /** True if the route can return the whole repository; anonymous callers do not get large ones. */
  readonly isDownload?: true
}

/** Part of a repository to which users need access. */
export type RouteUnit =
  | RepositoryUnit
  /** Any unit, because the route is about the repository itself. */
  | 'any'
  /**
   * Issues or pull requests: that of `{index}`, or one of them if the path has no index. A handler
   * that lists both leaves out those that `grant.modes` excludes.
   */
  | 'conversation'
  /** Issues or pull requests: that of the comment `{id}`. */
  | 'comment'

export interface RepositoryGrant {
  readonly who: Identity
  /**
   * Absent for an anonymous caller and for a deploy key. A job that writes does so as the account
   * of all jobs.
   */
  readonly user: User | undefined
  /** Repository, or the wiki (see `wikiOf`) that the path of a route with `mayBeWiki` names. */
  readonly repository: Repository
  /** Unit of the route or, for a conversation, of its issue or pull request. */
  readonly unit: RepositoryUnit | 'any'
  /** Access to that unit. */
  readonly mode: AccessMode
  readonly modes: RepositoryModes
  /** True if the path has an earlier name of `repository`. */
  readonly hasMoved: boolean
}

export interface AttachmentGrant {
  readonly who: Identity
  readonly repository: Repository
  readonly attachment: Attachment | IssueAttachment
}

interface RepositoryQuery {
  readonly access: RepositoryNeed
  readonly scopes: readonly Scope[]
  readonly params: Readonly<Record<string, string>>
  readonly challenges: boolean
  readonly anonymousBytesMax: number | undefined
}

/** Authorizes the caller for the repository that the path names. Throws like `authorize`. */
export function authorizeRepository(
  db: Database,
  who: Identity,
  question: RepositoryQuery,
): Awaitable<RepositoryGrant> {
  const { access } = question
  if (!isPublicRead(access)) refuseAnonymous(who)
  return after(namedRepository(db, question), ({ repository, hasMoved }) => {
    if (repository === undefined) throw unseen(who, question)
    return after(accessOf(db, who, repository, areaOf(question)), (modes) =>
      after(unitOf(db, question, { repository, modes }), (unit) => {
        const grant = judge(who, question, { repository, hasMoved, modes, unit })
        if (who.kind !== 'job' && access.refusesBlocked) {
          return after(refuseBlocked(db, question, grant), () => grant)
        }
        if (who.kind !== 'job' || isPublicRead(access)) return grant
        return after(findUserById(db, JOBS_USER_ID), (user) => ({ ...grant, user }))
      }),
    )
  })
}

const UNIT_OF_AREA: Readonly<Record<JobArea, RouteUnit>> = {
  contents: 'code',
  statuses: 'code',
  issues: 'conversation',
  'pull-requests': 'pulls',
  actions: 'actions',
  packages: 'any',
}

/** Returns the unit of a request: that of the route, or of the conversation that the path names. */
function unitOf(
  db: Database,
  question: RepositoryQuery,
  { repository, modes }: Pick<RepositoryGrant, 'repository' | 'modes'>,
): Awaitable<RepositoryUnit | 'any'> {
  const { access, params } = question
  // Settings are of no unit.
  if (atLeast(access.mode, 'admin')) return 'any'
  if (repository.isWiki) return 'wiki'
  const unit = access.unit ?? UNIT_OF_AREA[areaOf(question)]
  if (unit !== 'conversation' && unit !== 'comment') return unit
  const higher = atLeast(modes.issues, modes.pulls) ? 'issues' : 'pulls'
  if (modes.issues === modes.pulls) return higher
  const id = readId(params[unit === 'comment' ? 'id' : 'index'] ?? '')
  if (id === undefined) return higher
  const find = unit === 'comment' ? findComment : findIssue
  return after(find(db, repository.id, id) as Promise<Kind | undefined>, (row) => {
    if (row === undefined) return higher
    return row.isPull ? 'pulls' : 'issues'
  })
}

type Kind = Pick<Issue, 'isPull'>

async function refuseBlocked(
  db: Database,
  { access, params }: RepositoryQuery,
  { user, mode, repository }: RepositoryGrant,
): Promise<void> {
  if (user === undefined || atLeast(mode, 'admin')) return
  const id = readId(params[access.unit === 'comment' ? 'id' : 'index'] ?? '')
  const comment =
    id !== undefined && access.unit === 'comment'
      ? await findComment(db, repository.id, id)
      : undefined
  const number = access.unit === 'comment' ? comment?.issueNumber : id
  const issue = number === undefined ? undefined : await findIssue(db, repository.id, number)
  const authorIds = issue?.authorId === undefined ? [] : [issue.authorId]
  await refuseBlockedBy(db, user, [repository.owner.id, ...authorIds])
}

/** Areas in which users without write permission may create issues and comments. */
const OPEN_AREAS: readonly JobArea[] = ['issues', 'pull-requests']

/** Returns the area of a route: that of its access, or the one that follows from its scopes. */
function areaOf({ access, scopes }: Pick<RepositoryQuery, 'access' | 'scopes'>): JobArea {
  if (access.area !== undefined) return access.area
  if (scopes.some((scope) => scope.endsWith(':issue'))) return 'issues'
  return scopes.some((scope) => scope.endsWith(':package')) ? 'packages' : 'contents'
}

/**
 * Returns the mode that a job needs. Routes for any signed-in user change something: in areas that
 * are open, as a writer; elsewhere, such as stars and forks, they are about the caller's account,
 * and no job may call them.
 */
function modeForJob(question: RepositoryQuery): AccessMode {
  const { mode, isSignedIn } = question.access
  if (!isSignedIn || mode !== 'read') return mode
  return OPEN_AREAS.includes(areaOf(question)) ? 'write' : 'owner'
}

/** True if an anonymous caller may have this access to a public repository. */
function isPublicRead({ mode, isSignedIn }: RepositoryNeed): boolean {
  return mode === 'read' && !isSignedIn
}

/** Returns the refusal for a repository that is missing or that the caller cannot see. */
function unseen(who: Identity, { challenges }: RepositoryQuery): Failure {
  if (challenges) refuseAnonymous(who)
  return notFound()
}

type Found = Pick<RepositoryGrant, 'repository' | 'hasMoved' | 'unit' | 'modes'>

function judge(
  who: Identity,
  question: RepositoryQuery,
  { repository, hasMoved, unit, modes }: Found,
): RepositoryGrant {
  const { access, anonymousBytesMax } = question
  const mode = modes[unit]
  const isHidden = mode === 'none' || !isOfTicket(who, repository) || isDisabled(unit, repository)
  if (isHidden) throw unseen(who, question)
  refuseBeyondTicket(who, access)
  const caller = callerAt(who, repository.id)
  if (caller !== who && !isPublicRead(access)) throw limited()
  refusePublicOnly(who, repository.owner, repository.isPrivate)
  const isLarge = repository.sizeKib * 1_024 > (anonymousBytesMax ?? Number.POSITIVE_INFINITY)
  if (access.isDownload && isLarge) refuseAnonymous(who, LARGE_MESSAGE)
  if (!atLeast(mode, caller.kind === 'job' ? modeForJob(question) : access.mode)) {
    if (isLimited(who)) throw limited()
    if (who.kind === 'job') throw forbiddenToJob(areaOf(question))
    const isKey = who.kind === 'deploy-key'
    throw new Failure('forbidden', isKey ? READ_ONLY_MESSAGE : FORBIDDEN_MESSAGES[access.mode])
  }
  if (access.changesGit && repository.source?.mirror !== undefined) {
    throw new Failure('mirrored', MIRROR_MESSAGE)
  }
  const user = caller.kind === 'user' ? caller.user : undefined
  return { who: caller, user, repository, unit, mode, modes, hasMoved }
}

/** False if the caller has a ticket for another repository. */
function isOfTicket(who: Identity, { id }: Repository): boolean {
  const ticket = ticketUseOf(who)
  return ticket === undefined || ticket.repositoryId === id
}

/** Throws `forbidden` if the caller's ticket permits downloads only, and the route writes. */
function refuseBeyondTicket(who: Identity, { mode }: RepositoryNeed): void {
  const ticket = ticketUseOf(who)
  if (ticket === undefined || ticket.operation === 'upload' || mode === 'read') return
  throw new Failure('forbidden', 'This ticket for Git LFS permits downloads only.')
}

/** True if the unit is disabled in the repository. Handlers check the other units. */
function isDisabled(unit: RepositoryGrant['unit'], repository: Repository): boolean {
  return unit === 'wiki' && !hasWiki(repository)
}

const LARGE_MESSAGE =
  'This repository is large. To clone it or to fetch from it, sign in, for example with a token.'

const MIRROR_MESSAGE = 'Git Repository is a mirror.'

interface Named {
  readonly repository: Repository | undefined
  readonly hasMoved: boolean
}

/** Returns the repository that the path names by its id, its name or an earlier name. */
function namedRepository(
  db: Database,
  { params, access: { isById, isTemplate, mayBeWiki } }: RepositoryQuery,
): Awaitable<Named> {
  if (isById) {
    const id = readId(params['id'] ?? '')
    const found = id === undefined ? undefined : findRepositoryById(db, id)
    return after(found, (repository) => ({ repository, hasMoved: false }))
  }
  const owner = params[isTemplate ? 'template_owner' : 'owner'] ?? ''
  // Clients may add `.git`; no repository may have a name that ends with it.
  const sent = (params[isTemplate ? 'template_repo' : 'repo'] ?? '').replace(/\.git$/i, '')
  // No repository may have a name that ends with `.wiki`.
  const name = mayBeWiki ? sent.replace(WIKI_SUFFIX, '') : sent
  const place = (found: Repository) => (name === sent ? found : wikiOf(found))
  return after(findRepository(db, owner, name), (found): Awaitable<Named> => {
    if (found !== undefined) return { repository: place(found), hasMoved: false }
    return after(findRedirect(db, owner, name), (moved) => ({
      repository: moved && place(moved),
      hasMoved: true,
    }))
  })
}

const WIKI_SUFFIX = /\.wiki$/i

/**
 * Returns the caller's access. A deploy key has none outside its repositories, public or not, and a
 * job has the access of its permission for the area, or that of an anonymous client.
 */
function accessOf(
  db: Database,
  who: Identity,
  repository: Repository,
  area: JobArea = 'contents',
): Awaitable<RepositoryModes> {
  if (who.kind === 'deploy-key') {
    return after(deployKeyAccess(db, who.keyId, repository.id), everyUnit)
  }
  const caller = callerAt(who, repository.id)
  if (caller.kind === 'job' && caller.permissions[area] !== 'none') {
    return everyUnit(caller.permissions[area])
  }
  const user = caller.kind === 'user' ? caller.user : undefined
  return after(accessToRepository(db, user, repository), (modes) => withinLimits(who, modes))
}

/** Reduces the access of a limited token to at most `write`: it cannot administer a repository. */
function withinLimits(who: Identity, modes: RepositoryModes): RepositoryModes {
  return isLimited(who) ? atMostInEachUnit(modes, 'write') : modes
}

/** Returns the caller's access to each repository of a list, by id. */
export async function accessToListed(
  db: Database,
  who: Identity,
  repositories: readonly Repository[],
): Promise<ReadonlyMap<number, RepositoryModes>> {
  const user = who.kind === 'user' ? who.user : undefined
  const [own, others] = [true, false].map((isOwn) =>
    repositories.filter(({ id }) => (callerAt(who, id) === who) === isOwn),
  )
  return new Map(
    [
      ...(await accessToRepositories(db, user, own ?? [])),
      ...(await accessToRepositories(db, undefined, others ?? [])),
    ].map(([id, modes]) => [id, withinLimits(who, modes)]),
  )
}

const READ_ONLY_MESSAGE = 'this deploy key may only read the repository'

function forbiddenToJob(area: JobArea): Failure {
  const message =
    `The token of this job lacks the permission '${area}: write', or no job may do this. ` +
    "Permissions are set by 'permissions' in the workflow, or in the settings of the repository."
  return new Failure('forbidden', message)
}

const FORBIDDEN_MESSAGES: Readonly<Record<Exclude<AccessMode, 'none'>, string>> = {
  read: 'user should have specific read permission or be a repo admin or a site admin',
  write: 'user should have a permission to write to a repo',
  admin: 'user should be an owner or a collaborator with admin write of a repository',
  owner: 'user should be the owner of the repo',
}

/**
 * Returns the caller's access to a repository that an authorized object refers to; `none` in a unit
 * means that the caller must not see anything of it.
 */
export async function accessToLinked(
  db: Database,
  who: Identity,
  repository: Repository,
): Promise<RepositoryModes> {
  const isPublic = repository.owner.visibility === 'public' && !repository.isPrivate
  if (!isPublic && holdsPublicOnly(who)) return everyUnit('none')
  return await accessOf(db, who, repository)
}

/** Authorizes the caller for an attachment. One of a draft release requires write access. */
export async function authorizeAttachment(
  db: Database,
  who: Identity,
  uuid: string,
): Promise<AttachmentGrant> {
  const attachment =
    (await findAttachmentByUuid(db, uuid)) ?? (await findIssueAttachmentByUuid(db, uuid))
  const repository = attachment && (await findRepositoryById(db, attachment.repositoryId))
  const modes = repository === undefined ? undefined : await accessOf(db, who, repository)
  if (attachment === undefined || repository === undefined || modes === undefined) {
    throw notFound()
  }
  if (!isAttachmentSeen(modes, attachment)) throw notFound()
  refusePublicOnly(who, repository.owner, repository.isPrivate)
  return { who: callerAt(who, repository.id), repository, attachment }
}

function isAttachmentSeen(
  modes: RepositoryModes,
  attachment: Attachment | IssueAttachment,
): boolean {
  if ('issueId' in attachment) return atLeast(modes[attachment.isPull ? 'pulls' : 'issues'], 'read')
  return atLeast(modes.releases, attachment.isOfDraft ? 'write' : 'read')
}
