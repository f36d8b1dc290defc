/** The value of `concurrency` of a workflow or job: a group, or a map with a group. */

import { randomUUID } from 'node:crypto'
import { type Evaluation, evaluateText } from './evaluate-field.js'
import type { Contexts } from './expression-values.js'
import { readSwitch } from './read-strategy.js'
import type { YamlValue } from './yaml-value.js'

/** A concurrency group, of which one run or job is active and one waits. */
export interface PlannedGroup {
  readonly group: string
  /** True if a new member cancels the active one. */
  readonly cancels: boolean
}

/** Keys of `concurrency`. */
export const CONCURRENCY_KEYS = ['group', 'cancel-in-progress']

/** Reads a group. Throws FileFault. */
export function readConcurrency(
  value: YamlValue | undefined,
  evaluation: Evaluation,
): PlannedGroup | undefined {
  if (value === undefined) return undefined
  const fields = value.isMap ? value.map() : undefined
  const name = fields === undefined ? value : (fields.get('group') ?? value.fail("has no 'group'"))
  const group = evaluateText(name, evaluation).trim()
  if (group === '') name.fail('is empty')
  const cancels = fields?.get('cancel-in-progress')
  return { group, cancels: cancels !== undefined && readSwitch(cancels, evaluation) }
}

/** True if both are the same group; names are compared without case. */
export function isSameGroup(one: PlannedGroup, other: PlannedGroup | undefined): boolean {
  return one.group.toLowerCase() === other?.group.toLowerCase()
}

/**
 * Returns the contexts of groups. The id and the number of the run are not known yet. Workflows
 * use them as names that no other run has, so they have such a value.
 */
export function concurrencyContexts(contexts: Contexts): Contexts {
  const unique = randomUUID()
  const github = contexts['github']
  const isObject = typeof github === 'object' && github !== null && !Array.isArray(github)
  const ids = { run_id: unique, run_number: unique }
  return { ...contexts, github: isObject ? { ...github, ...ids } : ids }
}
