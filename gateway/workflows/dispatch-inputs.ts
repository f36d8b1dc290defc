/** Inputs of `workflow_dispatch` and `workflow_call`: their definitions, and their values. */

import type { YamlValue } from './yaml-value.js'

const INPUTS_MAX = 25
const VALUE_CHARACTERS_MAX = 65_535
const TYPES = ['string', 'boolean', 'choice', 'number', 'environment'] as const

/** An input that users, or callers, of the workflow can set. */
export interface DispatchInput {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
  readonly type: (typeof TYPES)[number]
  /** Values of a choice. */
  readonly options: readonly string[]
  /** Value if none is given. */
  readonly fallback: string
}

/** Values of inputs as texts, by their names. */
export type InputTexts = Readonly<Record<string, string>>

/** Values of inputs as expressions see them, by their names. */
export type TypedInputs = Readonly<Record<string, string | number | boolean>>

/** An input that is missing, unknown or wrong; the message has no final full stop. */
export class InputError extends Error {}

/** Reads the inputs of an event; undefined if `on` does not name it. Throws FileFault. */
export function readInputs(
  on: YamlValue,
  event: 'workflow_dispatch' | 'workflow_call',
): readonly DispatchInput[] | undefined {
  if (!on.isMap) return on.texts().includes(event) ? [] : undefined
  const trigger = on.map().get(event)
  if (trigger === undefined) return undefined
  const inputs = trigger.isNull ? undefined : trigger.map().get('inputs')
  if (inputs === undefined || inputs.isNull) return []
  const entries = [...inputs.map()]
  if (entries.length > INPUTS_MAX) inputs.fail(`has more than ${INPUTS_MAX} inputs`)
  return entries.map(([name, input]) => readInput(name, input))
}

function readInput(name: string, input: YamlValue): DispatchInput {
  const fields: ReadonlyMap<string, YamlValue> = input.isNull ? new Map() : input.map()
  const textOf = (key: string) => {
    const value = fields.get(key)
    return value === undefined || value.isNull ? undefined : value.text()
  }
  const text = textOf('type') ?? 'string'
  const type = TYPES.find((candidate) => candidate === text)
  if (type === undefined) return input.fail(`has a type '${text}' that does not exist`)
  const options = fields.get('options')?.texts() ?? []
  if (type === 'choice' && options.length === 0) input.fail("has no 'options'")
  return {
    name,
    description: textOf('description') ?? '',
    isRequired: textOf('required') === 'true',
    type,
    options,
    fallback: textOf('default') ?? (type === 'boolean' ? 'false' : ''),
  }
}

/** Returns the values of all inputs, with their defaults. Throws InputError. */
export function fillInputs(inputs: readonly DispatchInput[], given: InputTexts): InputTexts {
  for (const name of Object.keys(given)) {
    if (!inputs.some((input) => input.name === name)) {
      throw new InputError(`the workflow has no input '${name}'`)
    }
  }
  return Object.fromEntries(
    inputs.map((input) => [input.name, checkedValue(input, given[input.name])]),
  )
}

function checkedValue(input: DispatchInput, given: string | undefined): string {
  const { name, isRequired, type, options, fallback } = input
  const value = given ?? fallback
  if (value === '') {
    if (isRequired) throw new InputError(`the input '${name}' is required`)
    return value
  }
  if (value.length > VALUE_CHARACTERS_MAX) {
    throw new InputError(`the input '${name}' has more than ${VALUE_CHARACTERS_MAX} characters`)
  }
  if (type === 'boolean' && value !== 'true' && value !== 'false') {
    throw new InputError(`the input '${name}' must be 'true' or 'false'`)
  }
  if (type === 'number' && !Number.isFinite(Number(value))) {
    throw new InputError(`the input '${name}' must be a number`)
  }
  if (type === 'choice' && !options.includes(value)) {
    throw new InputError(`the input '${name}' must be one of: ${options.join(', ')}`)
  }
  return value
}

/** Returns values as expressions see them: booleans and numbers are not texts. */
export function typedInputs(inputs: readonly DispatchInput[], texts: InputTexts): TypedInputs {
  return Object.fromEntries(
    inputs.map(({ name, type }) => {
      const text = texts[name] ?? ''
      if (type === 'boolean') return [name, text === 'true']
      return [name, type === 'number' && text !== '' ? Number(text) : text]
    }),
  )
}
