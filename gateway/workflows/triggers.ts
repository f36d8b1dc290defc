/** Events that start a workflow, and their filters of branches, tags and paths. */

import type { MatchWork } from '../../conf/lib/pattern-states.js'
import type { TypedEvent } from '../../conf/run-events.js'
import {
  type FilterPattern,
  matchesPatterns,
  PatternError,
  parsePattern,
} from './filter-pattern.js'
import { readCrons } from './read-crons.js'
import type { YamlValue } from './yaml-value.js'

/** Keys below each event that exists here. */
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  push: ['branches', 'branches-ignore', 'tags', 'tags-ignore', 'paths', 'paths-ignore'],
  pull_request: ['types', 'branches', 'branches-ignore', 'paths', 'paths-ignore'],
  pull_request_target: ['types', 'branches', 'branches-ignore', 'paths', 'paths-ignore'],
  pull_request_review: ['types'],
  pull_request_review_comment: ['types'],
  pull_request_comment: ['types'],
  issues: ['types'],
  issue_comment: ['types'],
  release: ['types'],
  registry_package: ['types'],
  create: [],
  delete: [],
  fork: [],
  schedule: [],
  workflow_dispatch: ['inputs'],
  workflow_call: ['inputs', 'outputs', 'secrets'],
  workflow_run: ['workflows', 'types', 'branches', 'branches-ignore'],
}

/** Maximum number of patterns of one filter. */
const PATTERNS_MAX = 100

/** A filter: the patterns of `branches`, or those of `branches-ignore`. */
interface Filter {
  readonly patterns: readonly FilterPattern[]
  readonly isIgnored: boolean
}

/** An event that starts a workflow. */
export interface Trigger {
  readonly event: string
  /** Types in the words of workflow files, such as `opened`; undefined for the usual ones. */
  readonly types: readonly string[] | undefined
  readonly branches: Filter | undefined
  readonly tags: Filter | undefined
  readonly paths: Filter | undefined
  /** Names of the workflows of `workflow_run`. */
  readonly workflows: readonly string[] | undefined
  /** Cron expressions of `schedule`; empty for other events. */
  readonly crons: readonly string[]
}

/** Paths that a push or pull request has changed; undefined if they are too many or not known. */
type ChangedPaths = readonly string[] | undefined

/** A push of one ref. */
export interface PushedReference {
  readonly event: 'push'
  /** Full name, such as `refs/heads/main`. */
  readonly reference: string
  readonly changedPaths: ChangedPaths
}

/** A change of a pull request. */
export interface ChangedPull {
  readonly event: 'pull_request' | 'pull_request_target'
  /** Action in the words of workflow files, such as `synchronize`. */
  readonly action: string
  readonly baseBranch: string
  readonly changedPaths: ChangedPaths
}

/** A request of a user to start the workflow. */
export interface Dispatch {
  readonly event: 'workflow_dispatch'
  readonly inputs: Readonly<Record<string, string>>
  readonly changedPaths?: undefined
}

/** A change that workflows select by its type. */
export interface TypedChange {
  readonly event: TypedEvent
  /** Type in the words of workflow files, such as `created`; empty if the event has no types. */
  readonly action: string
  /** Empty: the event is about no commit. */
  readonly changedPaths: readonly string[]
}

/** A change of a run of another workflow. */
export interface ChangedRun extends Omit<TypedChange, 'event'> {
  readonly event: 'workflow_run'
  /** Name of the other workflow. */
  readonly workflow: string
  /** Short name of the branch or tag of the run; for a pull request, the branch of its head. */
  readonly branch: string
}

/** A schedule that is due. */
export interface DueSchedule extends Omit<TypedChange, 'event' | 'action'> {
  readonly event: 'schedule'
  readonly cron: string
}

/** Event that may start a workflow. */
export type Occurrence =
  | PushedReference
  | ChangedPull
  | Dispatch
  | TypedChange
  | ChangedRun
  | DueSchedule

/**
 * Reads the value of `on`. Events that do not exist here are valid and start nothing; `warn` gets a
 * sentence for each. Throws FileFault.
 */
export function readTriggers(on: YamlValue, warn: (warning: string) => void): readonly Trigger[] {
  if (!on.isMap) {
    const events = on.texts()
    if (events.includes('workflow_run')) on.fail(NO_WORKFLOWS)
    return events.map((event) => withoutFilters(known(event, warn)))
  }
  return [...on.map()].map(([event, value]) => {
    known(event, warn)
    const hasWorkflows = value.isMap && value.map().has('workflows')
    if (event === 'workflow_run' && !hasWorkflows) value.fail(NO_WORKFLOWS)
    if (event === 'schedule') return { ...withoutFilters(event), crons: readCrons(value, warn) }
    if (value.isNull) return withoutFilters(event)
    const keys = keysOf(event)
    for (const [key, { name }] of value.map()) {
      if (keys?.includes(key) === false) warn(`${name} has no effect`)
    }
    return {
      event,
      types: value.map().get('types')?.texts(),
      branches: filterOf(value, 'branches'),
      tags: filterOf(value, 'tags'),
      paths: filterOf(value, 'paths'),
      workflows: value.map().get('workflows')?.texts(),
      crons: [],
    }
  })
}

const NO_WORKFLOWS = "has a 'workflow_run' without 'workflows': the names of the other workflows"

function keysOf(event: string): readonly string[] | undefined {
  return Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined
}

function known(event: string, warn: (warning: string) => void): string {
  if (keysOf(event) === undefined)
    warn(`the event '${event}' does not exist here and starts nothing`)
  return event
}

function withoutFilters(event: string): Trigger {
  const filters = { branches: undefined, tags: undefined, paths: undefined }
  return { event, types: undefined, ...filters, workflows: undefined, crons: [] }
}

function filterOf(value: YamlValue, name: string): Filter | undefined {
  const [only, ignored] = [value.map().get(name), value.map().get(`${name}-ignore`)]
  if (only !== undefined && ignored !== undefined) {
    ignored.fail(`cannot be there together with ${only.name}`)
  }
  const patterns = only ?? ignored
  return patterns && { patterns: readPatterns(patterns), isIgnored: only === undefined }
}

function readPatterns(value: YamlValue): readonly FilterPattern[] {
  const texts = value.texts()
  if (texts.length > PATTERNS_MAX) value.fail(`has more than ${PATTERNS_MAX} patterns`)
  return texts.map((text) => {
    try {
      return parsePattern(text)
    } catch (error) {
      if (error instanceof PatternError) value.fail(`has a pattern '${text}' that ${error.message}`)
      throw error
    }
  })
}

const BRANCH_PREFIX = 'refs/heads/'
const TAG_PREFIX = 'refs/tags/'

/** Actions of pull requests that start a workflow which names no types. */
const USUAL_PULL_ACTIONS = ['opened', 'synchronize', 'reopened']

/** Returns true if a workflow with these triggers is started. */
export function startsOn(triggers: readonly Trigger[], occurrence: Occurrence): boolean {
  const work = { left: FILTER_WORK_MAX }
  return triggers.some(
    (trigger) => trigger.event === occurrence.event && fitsEvent(trigger, occurrence, work),
  )
}

/** Maximum work for the filters of an event, which takes 30 to 60 ms. */
const FILTER_WORK_MAX = 1_200_000

/** Returns true if a workflow would be started if its triggers had no filters. */
export function startsWithoutFilters(
  triggers: readonly Trigger[],
  occurrence: Occurrence,
): boolean {
  const filters = { branches: undefined, tags: undefined, paths: undefined }
  return startsOn(
    triggers.map((trigger) => ({ ...trigger, ...filters })),
    occurrence,
  )
}

function fitsEvent(trigger: Trigger, occurrence: Occurrence, work: MatchWork): boolean {
  switch (occurrence.event) {
    case 'push':
      return fitsPush(trigger, occurrence, work)
    case 'pull_request':
    case 'pull_request_target':
      return fitsPull(trigger, occurrence, work)
    case 'workflow_dispatch':
      return true
    case 'workflow_run':
      return fitsRun(trigger, occurrence, work)
    case 'schedule':
      return trigger.crons.includes(occurrence.cron)
    default:
      return fitsType(trigger, occurrence)
  }
}

/** Returns the short name of the pushed branch; undefined for another ref. */
export function branchOfPush({ reference }: PushedReference): string | undefined {
  return reference.startsWith(BRANCH_PREFIX) ? reference.slice(BRANCH_PREFIX.length) : undefined
}

/** A filter of branches alone leaves out tags, and a filter of tags alone leaves out branches. */
function fitsPush(
  trigger: Trigger,
  { reference, changedPaths }: PushedReference,
  work: MatchWork,
): boolean {
  const isTag = reference.startsWith(TAG_PREFIX)
  if (!isTag && !reference.startsWith(BRANCH_PREFIX)) return false
  const { branches, tags } = trigger
  const [own, other] = isTag ? [tags, branches] : [branches, tags]
  const name = reference.slice((isTag ? TAG_PREFIX : BRANCH_PREFIX).length)
  const fitsName = own === undefined ? other === undefined : fits(own, name, work)
  // Filters of paths do not apply to tags.
  return fitsName && (isTag || fitsPaths(trigger, changedPaths, work))
}

function fitsPull(
  trigger: Trigger,
  { action, baseBranch, changedPaths }: ChangedPull,
  work: MatchWork,
): boolean {
  const { types = USUAL_PULL_ACTIONS, branches } = trigger
  const fitsBranch = branches === undefined || fits(branches, baseBranch, work)
  return types.includes(action) && fitsBranch && fitsPaths(trigger, changedPaths, work)
}

function fitsRun(trigger: Trigger, run: ChangedRun, work: MatchWork): boolean {
  const { workflows, branches } = trigger
  const fitsBranch = branches === undefined || fits(branches, run.branch, work)
  return fitsType(trigger, run) && workflows?.includes(run.workflow) === true && fitsBranch
}

function fitsType({ types }: Trigger, { action }: Pick<TypedChange, 'action'>): boolean {
  return types === undefined || types.includes(action)
}

/** Filters of paths do not apply if the changed paths are not known. */
function fitsPaths({ paths }: Trigger, changedPaths: ChangedPaths, work: MatchWork): boolean {
  if (paths === undefined || changedPaths === undefined) return true
  return changedPaths.some((path) => fits(paths, path, work))
}

/** True also if the filter would need too much work. */
function fits({ patterns, isIgnored }: Filter, text: string, work: MatchWork): boolean {
  const isMatched = matchesPatterns(patterns, text, work)
  return work.left < 0 || isMatched !== isIgnored
}
