/** Expressions of workflow files: conditions, and the values of `${{ }}` in texts. */

import { data, Evaluator, Lexer, Parser, wellKnownFunctions } from '@actions/expressions'
import type { ContextAccess, Expr, FunctionCall, IndexAccess } from '@actions/expressions/ast'
import type { FunctionDefinition } from '@actions/expressions/funcs/info'
import { TokenType } from '@actions/expressions/lexer'
import {
  type Contexts,
  type ContextValue,
  isTruthy,
  LazyDictionary,
  type Value,
} from './expression-values.js'
import {
  ExpressionFault,
  newWork,
  spend,
  spendOnCall,
  textLength,
  type Work,
} from './expression-work.js'

/** State of a job or of its needs, for success(), failure(), cancelled(). */
export interface Outcome {
  readonly hasFailed: boolean
  readonly isCancelled: boolean
  readonly hasSucceeded: boolean
}

/** Maximum number of characters of a text with expressions. */
const TEXT_LENGTH_MAX = 21_000

/** Maximum number of bytes of a text whose expressions have been replaced. */
const RESULT_BYTES_MAX = 1_048_576

/**
 * Evaluates the condition of a job or step: a text with or without `${{ }}`; undefined means
 * `success()`. Without a status function, it is `success() && (text)`. Throws ExpressionFault.
 */
export function evaluateCondition(
  text: string | undefined,
  contexts: Contexts,
  outcome: Outcome,
  work: Work = newWork(),
): boolean {
  checkLength(text ?? '')
  const expression = expressionOf((text ?? '').trim())
  if (expression === '') return outcome.hasSucceeded
  const status = statusFunctions(outcome)
  const scope = new Scope(contexts, status, work)
  return nameFaults(expression, () => {
    const tree = parseExpression(expression, scope)
    // Without success, the text is not evaluated: it may need outputs that a step did not make.
    if (!scope.hasStatus && !outcome.hasSucceeded) return false
    return isTruthy(new BoundedEvaluator(tree, scope).evaluate())
  })
}

/**
 * Returns the value of a text that is one `${{ }}`; of other texts, that of `interpolate`. Throws
 * ExpressionFault.
 */
export function evaluate(text: string, contexts: Contexts, work: Work): ContextValue {
  if (!text.startsWith(START) || endOf(text, 0) + END.length < text.length) {
    return interpolate(text, contexts, work)
  }
  checkLength(text)
  const scope = new Scope(contexts, [], work)
  return plainOf(evaluateExpression(text.slice(START.length, -END.length), scope), scope)
}

/** Replaces every `${{ }}` of a text by its value as text. Throws ExpressionFault. */
export function interpolate(text: string, contexts: Contexts, work: Work = newWork()): string {
  if (!hasExpression(text)) return text
  checkLength(text)
  const scope = new Scope(contexts, [], work)
  let result = ''
  let at = 0
  for (let start = text.indexOf(START); start !== -1; start = text.indexOf(START, at)) {
    const end = endOf(text, start)
    const value = evaluateExpression(text.slice(start + START.length, end), scope)
    result += text.slice(at, start) + value.coerceString()
    at = end + END.length
  }
  result += text.slice(at)
  if (Buffer.byteLength(result) > RESULT_BYTES_MAX) {
    throw new ExpressionFault(
      `the text '${shorten(text)}' is longer than ${RESULT_BYTES_MAX} bytes with its values`,
    )
  }
  return result
}

/** Returns true if `interpolate` changes a text, or refuses it. */
export function hasExpression(text: string): boolean {
  return text.includes(START)
}

/** Returns a text whose interpolation is `text`: no expression in it is evaluated. */
export function escapeExpressions(text: string): string {
  return text.replaceAll(START, () => `${START} '$' ${END}{{`)
}

const START = '${{'
const END = '}}'

function evaluateExpression(expression: string, scope: Scope): Value {
  return nameFaults(expression, () =>
    new BoundedEvaluator(parseExpression(expression, scope), scope).evaluate(),
  )
}

/** Converts a value of the library, and counts its parts. */
function plainOf(value: Value, scope: Scope): ContextValue {
  spend(scope.work, textLength(value))
  switch (value.kind) {
    case data.Kind.Null:
      return null
    case data.Kind.Array:
      return value.values().map((item) => plainOf(item, scope))
    case data.Kind.Dictionary:
      return Object.fromEntries(
        value.pairs().map(({ key, value: item }) => [key, plainOf(item, scope)]),
      )
    default:
      return value.value
  }
}

function checkLength(text: string): void {
  if (text.length <= TEXT_LENGTH_MAX) return
  throw new ExpressionFault(
    `the text '${shorten(text)}' has expressions and is longer than ${TEXT_LENGTH_MAX} characters`,
  )
}

/** Returns the expression of a condition, without the `${{ }}` that may enclose it. */
function expressionOf(condition: string): string {
  if (!condition.startsWith(START)) return condition
  const end = endOf(condition, 0)
  if (end + END.length < condition.length) {
    throw new ExpressionFault(`the condition '${shorten(condition)}' is not one expression`)
  }
  return condition.slice(START.length, end).trim()
}

/** Returns the index of the `}}` that ends an expression; those in its texts are skipped. */
function endOf(text: string, start: number): number {
  let isQuoted = false
  for (let at = start + START.length; at < text.length; at += 1) {
    if (text[at] === "'") isQuoted = !isQuoted
    if (!isQuoted && text.startsWith(END, at)) return at
  }
  throw new ExpressionFault(`the expression '${shorten(text.slice(start))}' has no end '}}'`)
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`
}

/** Makes every error of the library a fault of the expression. */
function nameFaults<T>(expression: string, evaluate: () => T): T {
  try {
    return evaluate()
  } catch (error) {
    if (error instanceof ExpressionFault) throw error
    // The message of the library repeats the expression.
    const [reason] = String(error instanceof Error ? error.message : error).split(' within expr')
    throw new ExpressionFault(`the expression '${shorten(expression.trim())}': ${reason}`)
  }
}

/** Parses an expression; the parser refuses more than 50 levels. */
function parseExpression(expression: string, scope: Scope): Expr {
  const { tokens } = new Lexer(expression).lex()
  for (const [at, token] of tokens.entries()) {
    if (token.type === TokenType.IDENTIFIER && tokens[at - 1]?.type !== TokenType.DOT) {
      scope.checkName(token.lexeme, tokens[at + 1]?.type === TokenType.LEFT_PAREN)
    }
    // The lexer replaces only the first of several doubled quotes.
    if (token.type === TokenType.STRING) {
      token.value = token.lexeme.slice(1, -1).replaceAll("''", "'")
    }
  }
  const parser = new Parser(tokens, [...scope.contextNames], [...scope.functions.values()])
  // The declaration of the parser lacks the result for no tokens.
  const tree: Expr | undefined = parser.parse()
  if (tree === undefined) throw new ExpressionFault('an expression is empty')
  return tree
}

/** Names that the expressions of one text may use, and the work that they may still do. */
class Scope {
  readonly contexts: LazyDictionary
  readonly contextNames: readonly string[]
  readonly functions: ReadonlyMap<string, FunctionDefinition>
  /** True if an expression calls a status function. */
  hasStatus = false
  readonly #status: readonly FunctionDefinition[]
  readonly work: Work

  constructor(contexts: Contexts, status: readonly FunctionDefinition[], work: Work) {
    this.work = work
    this.contexts = new LazyDictionary(contexts)
    this.contextNames = Object.keys(contexts).map((name) => name.toLowerCase())
    this.functions = new Map(
      [...Object.values(wellKnownFunctions), HASH_FILES, ...status].map((definition) => [
        definition.name.toLowerCase(),
        definition,
      ]),
    )
    this.#status = status
  }

  checkName(name: string, isCalled: boolean): void {
    const isKnown = isCalled
      ? this.functions.has(name.toLowerCase())
      : this.contextNames.includes(name.toLowerCase())
    if (!isKnown) {
      throw new ExpressionFault(`the ${isCalled ? 'function' : 'context'} '${name}' does not exist`)
    }
    if (isCalled && this.#status.some((status) => status.name === name.toLowerCase())) {
      this.hasStatus = true
    }
  }
}

/** Evaluator that counts the values that it reads, and the work of a function before its call. */
class BoundedEvaluator extends Evaluator {
  readonly #scope: Scope

  constructor(expression: Expr, scope: Scope) {
    super(expression, scope.contexts)
    this.#scope = scope
  }

  override visitContextAccess(access: ContextAccess): Value {
    return this.#counted(super.visitContextAccess(access))
  }

  override visitIndexAccess(access: IndexAccess): Value {
    return this.#counted(super.visitIndexAccess(access))
  }

  override visitFunctionCall({ functionName, args }: FunctionCall): Value {
    const values = args.map((argument) => this.eval(argument))
    const definition = this.#scope.functions.get(functionName.lexeme.toLowerCase())
    if (definition === undefined) throw new Error(`${functionName.lexeme} is no function`)
    spendOnCall(definition.name.toLowerCase(), values, this.#scope.work)
    return definition.call(...values)
  }

  #counted(value: Value): Value {
    const isList = value.kind === data.Kind.Array
    spend(this.#scope.work, isList ? value.values().length : textLength(value))
    return value
  }
}

const HASH_FILES: FunctionDefinition = {
  name: 'hashFiles',
  minArgs: 1,
  maxArgs: 255,
  call() {
    throw new ExpressionFault('the function hashFiles is not supported yet')
  },
}

function statusFunctions(outcome: Outcome): readonly FunctionDefinition[] {
  const values: Readonly<Record<string, boolean>> = {
    always: true,
    success: outcome.hasSucceeded,
    failure: outcome.hasFailed,
    cancelled: outcome.isCancelled,
  }
  return Object.entries(values).map(([name, value]) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(value),
  }))
}
