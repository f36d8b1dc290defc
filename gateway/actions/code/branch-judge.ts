/** Judges changes of branches by their protection rules, for pushes, pages and the API. */

import { findMergeBase, isAncestor } from '../../../cgi/objects/commit-range.js'
import { type ObjectReader, withObjects } from '../../../cgi/objects/objects.js'
import { changedPaths } from '../../../cgi/objects/tree-changes.js'
import type { Git } from '../../../cgi/process/git.js'
import type { ReferenceChange } from '../../../cgi/refs/references.js'
import { Failure } from '../../../conf/failures.js'
import { parseGlob } from '../../../conf/glob.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Protection } from '../../../sql/code/branch-protections.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { type Actor, actorOf, mayForcePush, mayPush, readBranchRules } from './branch-rules.js'

/** References that somebody wants to move. */
export interface RefChangeRequest {
  readonly repository: Repository
  /** The folder of the repository. */
  readonly path: string
  /** Undefined for whoever holds a deploy key. */
  readonly pusher: User | undefined
  readonly changes: readonly ReferenceChange[]
  /** Variables with which git sees objects that are not in the repository yet. */
  readonly quarantine?: Readonly<Record<string, string>>
}

const BRANCHES = 'refs/heads/'

/** A sentence for each branch that may not be moved so. Each is judged by itself. */
export async function checkRefChanges(
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
    if (refusal !== undefined) refusals.push(plainText(refusal))
  }
  return refusals
}

/** Throws `forbidden` where one of them may not be moved so. */
export async function refuseMoves(context: Context, wanted: RefChangeRequest): Promise<void> {
  const [refusal] = await checkRefChanges(context, wanted)
  if (refusal !== undefined) throw new Failure('forbidden', refusal)
}

/** What happens to a branch; what costs a look into the repository is asked when it matters. */
export interface BranchMove {
  readonly branch: string
  readonly isRemoved: boolean
  /** Whether commits would be lost to it. */
  isForced(): Promise<boolean>
  /** The paths that would differ; undefined where they are too many. */
  changedFiles(): Promise<readonly string[] | undefined>
}

/** Why a rule does not let somebody move a branch so; undefined where it does. */
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
  const files = await filesOf(rule, move)
  if (files === undefined)
    return `the push changes too many files of the protected branch ${branch}`
  const file = await firstMatching(settings.protected_file_patterns, files)
  if (file !== undefined) return `branch ${branch} is protected from changing file ${file}`
  if (isForced) {
    if (mayForcePush(rule, actor)) return undefined
    return `Not allowed to force-push to protected branch ${branch}`
  }
  if (mayPush(rule, actor) || (await hasFreeFilesOnly(rule, files))) return undefined
  return `Not allowed to push to protected branch ${branch}`
}

async function filesOf(
  { settings }: Protection,
  move: BranchMove,
): Promise<readonly string[] | undefined> {
  const patterns = settings.protected_file_patterns + settings.unprotected_file_patterns
  return patterns.trim() === '' ? [] : await move.changedFiles()
}

/** Whether a push changes something, and nothing but what everybody who writes may change. */
async function hasFreeFilesOnly(
  { settings: { unprotected_file_patterns } }: Protection,
  files: readonly string[],
): Promise<boolean> {
  const tests = fileTests(unprotected_file_patterns)
  const isRuled = (path: string) => !tests.some((fits) => fits(path.toLowerCase()))
  return files.length > 0 && tests.length > 0 && (await firstOf(files, isRuled)) === undefined
}

/** The first of the paths that one of the patterns, told apart by semicolons, means. */
export async function firstMatching(
  patterns: string,
  paths: readonly string[],
): Promise<string | undefined> {
  const tests = fileTests(patterns)
  return await firstOf(paths, (path) => tests.some((fits) => fits(path.toLowerCase())))
}

/** Paths between which others get their turn. */
const PATHS_AT_ONCE = 100

async function firstOf(
  paths: readonly string[],
  isWanted: (path: string) => boolean,
): Promise<string | undefined> {
  for (let start = 0; start < paths.length; start += PATHS_AT_ONCE) {
    const found = paths.slice(start, start + PATHS_AT_ONCE).find(isWanted)
    if (found !== undefined) return found
    await new Promise((resolve) => setImmediate(resolve))
  }
  return undefined
}

/** In one pattern: each is another place at which a path may be, at every character. */
const STARS_MAX = 8

/** Throws `invalid` where a pattern of files cannot be read, or would take long. */
export function checkFilePatterns(patterns: string): void {
  for (const pattern of patternsOf(patterns)) {
    const stars = pattern.match(/\*+/g) ?? []
    if (parseGlob(pattern, './') === undefined || stars.length > STARS_MAX) {
      throw new Failure('invalid', `The pattern of files ${pattern} cannot be read.`)
    }
  }
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
  { git }: Context,
  { repository, path, quarantine }: RefChangeRequest,
  { branch, change }: { readonly branch: string; readonly change: ReferenceChange },
): BranchMove {
  const { before, after } = change
  return {
    branch,
    isRemoved: after === undefined,
    async isForced() {
      if (before === undefined || after === undefined) return false
      return !(await isAncestor(git, path, { older: before, younger: after }, quarantine))
    },
    async changedFiles() {
      if (after === undefined) return []
      // A new branch is compared with what it grew from, whoever made its commits, and when.
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

/** Entries of trees that are looked at. */
const ENTRIES_MAX = 20_000

/** The paths in which two commits differ, or all of one; undefined where they are too many. */
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

/** Names and paths are the client's, and their sentence is shown on a terminal. */
function plainText(sentence: string): string {
  return sentence.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 500)
}
