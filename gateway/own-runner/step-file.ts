/** Steps as in a workflow file, or in the file of a composite action. */

import type { YamlValue } from '../workflows/yaml-value.js'

/** Texts by names, in which expressions are not evaluated yet. */
export type Texts = Readonly<Record<string, string>>

/** A step as in the file. */
export interface StepFile {
  readonly id?: string
  readonly name?: string
  readonly condition?: string
  readonly run?: string
  readonly uses?: string
  readonly shell?: string
  readonly workingDirectory?: string
  readonly continueOnError?: string
  readonly timeoutMinutes?: string
  readonly env: Texts
  readonly inputs: Texts
}

/** Reads a step. Throws FileFault. */
export function readStep(step: YamlValue): StepFile {
  const fields: Readonly<Record<string, string>> = Object.fromEntries(
    Object.entries(KEYS_OF_STEP).flatMap(([name, key]) => {
      const text = textOf(step, key)
      return text === undefined ? [] : [[name, text]]
    }),
  )
  if ('run' in fields === 'uses' in fields) step.fail("must have either 'run' or 'uses'")
  return { ...fields, env: textsOf(step, 'env'), inputs: textsOf(step, 'with') }
}

const KEYS_OF_STEP = {
  id: 'id',
  name: 'name',
  condition: 'if',
  run: 'run',
  uses: 'uses',
  shell: 'shell',
  workingDirectory: 'working-directory',
  continueOnError: 'continue-on-error',
  timeoutMinutes: 'timeout-minutes',
} as const

/** Returns the value of a key; undefined if it is missing or null. */
export function fieldOf(value: YamlValue | undefined, key: string): YamlValue | undefined {
  const field = value?.map().get(key)
  return field === undefined || field.isNull ? undefined : field
}

/** Returns the text of a key; undefined if it is missing or null. */
export function textOf(value: YamlValue | undefined, key: string): string | undefined {
  return fieldOf(value, key)?.text()
}

/** Returns the texts of a map by their names; null is an empty text. */
export function textsOf(value: YamlValue, key: string): Texts {
  const entries = [...(fieldOf(value, key)?.map() ?? [])]
  return Object.fromEntries(entries.map(([name, text]) => [name, text.isNull ? '' : text.text()]))
}
