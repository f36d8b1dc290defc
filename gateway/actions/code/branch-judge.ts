/** Checks of branch changes against the branch protection rules. */

import { findMergeBase, isAncestor } from '../../../cgi/objects/commit-range.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { changedPaths } from '../../../cgi/objects/tree-changes.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import type { Git } from '../../../cgi/process/git.js'
import type { ReferenceChange } from '../../../cgi/refs/references.js'
import { Failure } from '../../../conf/failures.js'
import { parseGlob } from '../../../conf/lib/glob.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Protection } from '../../../sql/code/branch-protections.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { type Actor, actorOf, mayForcePush, mayPush, readBranchRules } from './branch-rules.js'
import { findUnsignedCommit } from './unsigned-commits.js'

/** Requested changes of refs. */
export interface RefChangeRequest {
  readonly repository: Repository
  /** Absolute path of the repository. */
  readonly path: string
  /** Undefined for a deploy key. */
  readonly pusher: User | undefined
  readonly changes: readonly ReferenceChange[]
  /** Environment with which git reads the objects of a push that is not accepted yet. */
  readonly quarantine?: Readonly<Record<string, string>>
}

const BRANCHES = 'refs/heads/'

/** Returns a refusal for each branch whose change its rule does not permit. */
export async function checkBranchChanges(
  context: Context,
  wanted: RefChangeRequest,
): Promise<readonly string[]> {
  const { repository, pusher } = wanted
  const branches = wanted.changes.filter(({ name }) => name.startsWith(BRANCHES))
  if (branches.length === 0) return []
  const ruleOf = await readBranchRules(context.db, repository.id)
  const ruled = branches.flatMap((change) => {
    const branch = change.name.slice(BRANCHES.length)
    const rule = ruleOf(branch)
    return rule === undefined ? [] : { rule, branch, change }
  })
  if (ruled.length === 0) return []
  const actor = await actorOf(context.db, repository, pusher)
  const refusals: string[] = []
  for (const { rule, branch, change } of ruled) {
    const refusal = await judgePush(rule, actor, moveOf(context, wanted, { branch, change }))
    if (refusal !== undefined) refusals.push(refusal)
  }
  return refusals
}

/** Change of a branch. Its methods run git, so they are called only if a rule needs them. */
export interface BranchMove {
  readonly branch: string
  readonly isRemoved: boolean
  /** Returns true if the new commit is not a descendant of the old one. */
  isForced(): Promise<boolean>
  /** Returns why the commits do not meet the requirement of signatures; undefined if they do. */
  findUnsigned(): Promise<string | undefined>
  /** Returns the paths that the change affects; undefined if there are too many. */
  changedFiles(): Promise<readonly string[] | undefined>
}

/** Returns why the rule does not permit the change; undefined if it does. */
export async function judgePush(
  rule: Protection,
  actor: Actor,
  move: BranchMove,
): Promise<string | undefined> {
  const { branch } = move
  const { settings } = rule
  if (move.isRemoved) return `branch ${branch} is protected from deletion`
  const isForced = await move.isForced()
  if (isForced && !settings.enable_force_push)
    return `branch ${branch} is protected from force push`
  const unsigned = settings.require_signed_commits ? await move.findUnsigned() : undefined
  if (unsigned !== undefined) return `branch ${branch} ${unsigned}`
  const files = await filesOf(rule, move)
  if (files === undefined)
    return `the push changes too many files of the protected branch ${branch}`
  const file = await firstMatching(settings.protected_file_patterns, files)
  if (file !== undefined) return `branch ${branch} is protected from changing file ${file}`
  if (isForced) {
    if (mayForcePush(rule, actor)) return undefined
    return `Not allowed to force-push to protected branch ${branch}`
  }
  if (mayPush(rule, actor) || (await hasUnprotectedFilesOnly(rule, files))) return undefined
  return `Not allowed to push to protected branch ${branch}`
}

async function filesOf(
  { settings }: Protection,
  move: BranchMove,
): Promise<readonly string[] | undefined> {
  const patterns = settings.protected_file_patterns + settings.unprotected_file_patterns
  return patterns.trim() === '' ? [] : await move.changedFiles()
}

/** Returns true if all changed files are unprotected, that is, open to every writer. */
async function hasUnprotectedFilesOnly(
  { settings: { unprotected_file_patterns } }: Protection,
  files: readonly string[],
): Promise<boolean> {
  const tests = fileTests(unprotected_file_patterns)
  const isRuled = (path: string) => !tests.some((fits) => fits(path.toLowerCase()))
  return files.length > 0 && tests.length > 0 && (await firstOf(files, isRuled)) === undefined
}

/** Returns the first path that matches one of the patterns, which semicolons separate. */
export async function firstMatching(
  patterns: string,
  paths: readonly string[],
): Promise<string | undefined> {
  const tests = fileTests(patterns)
  return await firstOf(paths, (path) => tests.some((fits) => fits(path.toLowerCase())))
}

/** Number of paths that are matched in one event-loop tick. */
const PATHS_PER_TICK = 100

async function firstOf(
  paths: readonly string[],
  isWanted: (path: string) => boolean,
): Promise<string | undefined> {
  for (let start = 0; start < paths.length; start += PATHS_PER_TICK) {
    const found = paths.slice(start, start + PATHS_PER_TICK).find(isWanted)
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
  return undefined
}

/** Maximum number of stars in a pattern: each adds a position to track for every character. */
const STARS_MAX = 8

/** Throws `invalid` if a file pattern is malformed, or has too many stars to be matched fast. */
export function checkFilePatterns(patterns: string): void {
  for (const pattern of patternsOf(patterns)) {
    if (parseGlob(pattern, './') === undefined || !hasFewStars(pattern)) {
      throw new Failure(
        'invalid',
        `The file pattern ${pattern} is malformed or has more than ${STARS_MAX} stars.`,
      )
    }
  }
}

/** Returns true if a pattern is matched fast. */
export function hasFewStars(pattern: string): boolean {
  return (pattern.match(/\*+/g) ?? []).length <= STARS_MAX
}

function fileTests(patterns: string): readonly ((path: string) => boolean)[] {
  return patternsOf(patterns).flatMap((pattern) => parseGlob(pattern, './') ?? [])
}

function patternsOf(patterns: string): readonly string[] {
  return patterns
    .toLowerCase()
    .split(';')
    .map((pattern) => pattern.trim())
    .filter(Boolean)
}

type Quarantine = RefChangeRequest['quarantine']

function moveOf(
  context: Context,
  { repository, path, quarantine }: RefChangeRequest,
  { branch, change }: { readonly branch: string; readonly change: ReferenceChange },
): BranchMove {
  const { git } = context
  const { before, after } = change
  return {
    branch,
    isRemoved: after === undefined,
    async isForced() {
      if (before === undefined || after === undefined) return false
      return !(await isAncestor(git, path, { older: before, younger: after }, quarantine))
    },
    async findUnsigned() {
      return after && (await findUnsignedCommit(context, path, { before, after }, quarantine))
    },
    async changedFiles() {
      if (after === undefined) return []
      // A new branch is compared with its merge base with the default branch.
      const from = before ?? (await startOf(git, path, { repository, after, quarantine }))
      return await pathsBetween(git, path, { from, to: after }, quarantine)
    },
  }
}

async function startOf(
  git: Git,
  path: string,
  {
    repository,
    after,
    quarantine,
  }: { readonly repository: Repository; readonly after: string; readonly quarantine: Quarantine },
): Promise<string | undefined> {
  const main = await withObjects(git, path, (objects) =>
    objects.read(`${BRANCHES}${repository.defaultBranch}^{commit}`),
  )
  return main && (await findMergeBase(git, path, [main.id, after], quarantine))
}

/** Maximum number of tree entries that are read for one change. */
const ENTRIES_MAX = 20_000

/** Returns the paths that differ between two commits, without `from` all; undefined if too many. */
export async function pathsBetween(
  git: Git,
  path: string,
  { from, to }: { readonly from: string | undefined; readonly to: string },
  quarantine?: Quarantine,
): Promise<readonly string[] | undefined> {
  const find = async (objects: ObjectReader) => {
    const before = from && (await objects.read(`${from}^{tree}`))?.id
    const after = (await objects.read(`${to}^{tree}`))?.id
    const files = await changedPaths(objects, { before, after }, { entries: ENTRIES_MAX })
    return files?.map((file) => file.path)
  }
  return await withObjects(git, path, find, quarantine)
}
