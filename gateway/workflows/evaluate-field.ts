/** Values of workflow files whose expressions are evaluated when a run starts. */

import type { Contexts } from './expression-values.js'
import { ExpressionFault, type Work } from './expression-work.js'
import { evaluate, hasExpression, interpolate } from './expressions.js'
import type { PlainValue, YamlValue } from './yaml-value.js'

/** Contexts of the expressions of a file, and the work that they may still do together. */
export interface Evaluation {
  readonly contexts: Contexts
  readonly work: Work
  /** Characters of texts with expressions, which may still be parsed. */
  readonly characters: { left: number }
}

/** Maximum number of characters with expressions that one file may have evaluated. */
const CHARACTERS_MAX = 60_000

/** Returns the characters that the texts of one file may have. */
export const newCharacters = (): Evaluation['characters'] => ({ left: CHARACTERS_MAX })

/** Returns a value without its places, with the values of the expressions in it. */
export function evaluateField(value: YamlValue, evaluation: Evaluation): PlainValue {
  const { content } = value
  if (content instanceof Map) {
    const entries = [...content].map(([key, field]) => [key, evaluateField(field, evaluation)])
    return Object.fromEntries(entries)
  }
  if (value.isList) return value.list().map((item) => evaluateField(item, evaluation))
  if (typeof content !== 'string' || !hasExpression(content)) return value.plain()
  return nameFault(value, evaluation, () => evaluate(content, evaluation.contexts, evaluation.work))
}

/** Returns a text with the values of the expressions in it. Throws FileFault. */
export function evaluateText(value: YamlValue, evaluation: Evaluation): string {
  const text = value.text()
  if (!hasExpression(text)) return text
  const { contexts, work } = evaluation
  return nameFault(value, evaluation, () => interpolate(text, contexts, work))
}

/** Makes the fault of an expression that of the value, and counts the characters of the value. */
function nameFault<T>(value: YamlValue, { contexts, characters }: Evaluation, run: () => T): T {
  characters.left -= value.text().length
  if (characters.left < 0) {
    value.fail(`cannot be evaluated: the texts with expressions, each counted once for each job, \
have more than ${CHARACTERS_MAX} characters`)
  }
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    const names = Object.keys(contexts).join(', ')
    return value.fail(`is evaluated when the run starts, from ${names}: ${error.message}`)
  }
}
