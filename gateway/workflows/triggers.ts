/** Events that start a workflow, and their filters of branches, tags and paths. */

import {
  type FilterPattern,
  matchesPatterns,
  PatternError,
  parsePattern,
} from './filter-pattern.js'
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
  readonly branches: Filter | undefined
  readonly tags: Filter | undefined
  readonly paths: Filter | undefined
}

/** A push of one ref. */
export interface PushedReference {
  /** Full name, such as `refs/heads/main`. */
  readonly reference: string
  /** Paths that the push has changed; undefined if they are too many or not known. */
  readonly changedPaths: readonly string[] | undefined
}

/**
 * Reads the value of `on`. Events that do not exist here are valid and start nothing; `warn` gets a
 * sentence for each. Throws FileFault.
 */
export function readTriggers(on: YamlValue, warn: (warning: string) => void): readonly Trigger[] {
  if (!on.isMap) return on.texts().map((event) => withoutFilters(known(event, warn)))
  return [...on.map()].map(([event, value]) => {
    known(event, warn)
    if (value.isNull || event === 'schedule') return withoutFilters(event)
    const keys = keysOf(event)
    for (const [key, { name }] of value.map()) {
      if (keys?.includes(key) === false) warn(`${name} has no effect`)
    }
    return {
      event,
      branches: filterOf(value, 'branches'),
      tags: filterOf(value, 'tags'),
      paths: filterOf(value, 'paths'),
    }
  })
}

function keysOf(event: string): readonly string[] | undefined {
  return Object.hasOwn(EVENTS, event) ? EVENTS[event] : undefined
}

function known(event: string, warn: (warning: string) => void): string {
  if (keysOf(event) === undefined)
    warn(`the event '${event}' does not exist here and starts nothing`)
  return event
}

function withoutFilters(event: string): Trigger {
  return { event, branches: undefined, tags: undefined, paths: undefined }
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

/**
 * Returns true if the push starts a workflow with these triggers. A filter of branches alone leaves
 * out tags, and a filter of tags alone leaves out branches. Filters of paths do not apply to tags,
 * nor if the changed paths are not known.
 */
export function startsOnPush(triggers: readonly Trigger[], pushed: PushedReference): boolean {
  return triggers.some((trigger) => trigger.event === 'push' && fitsPush(trigger, pushed))
}

function fitsPush({ branches, tags, paths }: Trigger, pushed: PushedReference): boolean {
  const { reference, changedPaths } = pushed
  const isTag = reference.startsWith(TAG_PREFIX)
  if (!isTag && !reference.startsWith(BRANCH_PREFIX)) return false
  const [own, other] = isTag ? [tags, branches] : [branches, tags]
  const name = reference.slice((isTag ? TAG_PREFIX : BRANCH_PREFIX).length)
  const fitsName = own === undefined ? other === undefined : fits(own, name)
  if (!fitsName || isTag || paths === undefined || changedPaths === undefined) return fitsName
  return changedPaths.some((path) => fits(paths, path))
}

function fits({ patterns, isIgnored }: Filter, text: string): boolean {
  return matchesPatterns(patterns, text) !== isIgnored
}
