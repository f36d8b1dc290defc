/** Inputs of an action: the values of `with` and the defaults of the action. */

import type { ActionInput } from './action-file.js'
import type { Texts } from './step-file.js'

/** Parts of the values of inputs. */
export interface InputValues {
  /** Values of `with`. */
  readonly given: Texts
  /** Returns the value of a default, which may have expressions. */
  evaluate(fallback: string): string
  /** Receives a sentence about an input that is missing or unknown. */
  warn(sentence: string): void
}

/** Returns the values of all inputs. Upper and lower case of their names do not matter. */
export function fillActionInputs(
  inputs: readonly ActionInput[],
  { given, evaluate, warn }: InputValues,
): Texts {
  const left = new Map(Object.entries(given).map((entry) => [entry[0].toLowerCase(), entry]))
  const values: [name: string, value: string][] = []
  for (const { name, isRequired, fallback } of inputs) {
    const [, value] = left.get(name.toLowerCase()) ?? []
    left.delete(name.toLowerCase())
    if (value === undefined && isRequired && fallback === undefined) {
      warn(`the input '${name}' is required and was not given`)
    }
    values.push([name, value ?? evaluate(fallback ?? '')])
  }
  for (const [name, value] of left.values()) {
    warn(`the action has no input '${name}'`)
    values.push([name, value])
  }
  return Object.fromEntries(values)
}
