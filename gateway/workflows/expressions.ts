/** Expressions of workflow files: conditions, and the values of `${{ }}` in texts. */

import { data, Evaluator, Lexer, Parser, wellKnownFunctions } from '@actions/expressions'
import type { ContextAccess, Expr, FunctionCall, IndexAccess } from '@actions/expressions/ast'
import type { FunctionDefinition } from '@actions/expressions/funcs/info'
import { TokenType } from '@actions/expressions/lexer'

/** A JSON-like value of a context. */
export type ContextValue =
  | string
  | number
  | boolean
  | null
  | readonly ContextValue[]
  | { readonly [key: string]: ContextValue }

/** Contexts by name, such as github, env, steps, needs. */
export type Contexts = Readonly<Record<string, ContextValue>>

/** State of a job or of its needs, for success(), failure(), cancelled(). */
export interface Outcome {
  readonly hasFailed: boolean
  readonly isCancelled: boolean
  readonly hasSucceeded: boolean
}

/** Fault of an expression; the message names it and has no final full stop. */
export class ExpressionFault extends Error {}

/** Maximum number of characters of a text with expressions. */
const TEXT_LENGTH_MAX = 21_000

/** Maximum number of bytes of a text whose expressions have been replaced. */
const RESULT_BYTES_MAX = 1_048_576

/**
 * Maximum number of characters and values that the expressions of one text may handle. `format`,
 * `join` and `toJSON` multiply their input, and a long value can be named a thousand times.
 */
const WORK_MAX = 8_388_608

/** Characters and values that expressions may still handle; several texts may share them. */
export interface Work {
  left: number
}

/** Returns the work that the expressions of one text may do. */
export const newWork = (): Work => ({ left: WORK_MAX })

/** Maximum depth of the JSON that `fromJSON` reads. */
const JSON_DEPTH_MAX = 64

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

/** Replaces every `${{ }}` of a text by its value as text. Throws ExpressionFault. */
export function interpolate(text: string, contexts: Contexts): string {
  if (!text.includes(START)) return text
  checkLength(text)
  const scope = new Scope(contexts, [], newWork())
  let result = ''
  let at = 0
  for (let start = text.indexOf(START); start !== -1; start = text.indexOf(START, at)) {
    const end = endOf(text, start)
    const expression = text.slice(start + START.length, end)
    const value = nameFaults(expression, () =>
      new BoundedEvaluator(parseExpression(expression, scope), scope).evaluate(),
    )
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

const START = '${{'
const END = '}}'

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

type Value = data.ExpressionData

function isTruthy(value: Value): boolean {
  switch (value.kind) {
    case data.Kind.Null:
      return false
    case data.Kind.Boolean:
    case data.Kind.String:
      return Boolean(value.value)
    case data.Kind.Number:
      return value.value !== 0 && !Number.isNaN(value.value)
    default:
      return true
  }
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
  readonly #work: Work

  constructor(contexts: Contexts, status: readonly FunctionDefinition[], work: Work) {
    this.#work = work
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

  spend(work: number): void {
    this.#work.left -= work
    if (this.#work.left < 0) {
      throw new ExpressionFault(`expressions of a text handle more than ${WORK_MAX} characters`)
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
    spendOnCall(definition.name.toLowerCase(), values, this.#scope)
    return definition.call(...values)
  }

  #counted(value: Value): Value {
    const isList = value.kind === data.Kind.Array
    this.#scope.spend(isList ? value.values().length : textLength(value))
    return value
  }
}

function textLength(value: Value | undefined): number {
  return value?.kind === data.Kind.String ? value.value.length : 32
}

/** Counts the result of a function, or for `fromJSON` its input, before the function runs. */
function spendOnCall(name: string, values: readonly Value[], scope: Scope): void {
  const [first, second] = values
  if (first === undefined) return
  switch (name) {
    case 'format':
      scope.spend(textLength(first))
      for (const [, index] of first.coerceString().matchAll(/\{(\d+)/g)) {
        scope.spend(textLength(values[1 + Number(index)]))
      }
      return
    case 'contains':
    case 'join':
      if (first.kind !== data.Kind.Array) return
      for (const item of first.values()) scope.spend(textLength(item) + textLength(second))
      return
    case 'tojson':
      spendOnJson(first, 0, scope)
      return
    case 'fromjson':
      spendOnJsonText(first.coerceString(), scope)
  }
}

/** Counts the indented JSON of a value. */
function spendOnJson(value: Value, depth: number, scope: Scope): void {
  // Two columns of indentation for each level, a colon, a comma, brackets and line feeds.
  scope.spend(2 * depth + 8)
  switch (value.kind) {
    case data.Kind.Array:
      for (const item of value.values()) spendOnJson(item, depth + 1, scope)
      return
    case data.Kind.Dictionary:
      for (const { key, value: item } of value.pairs()) {
        scope.spend(2 * key.length)
        spendOnJson(item, depth + 1, scope)
      }
      return
    default:
      // Each character is at most six in JSON, such as \u001f.
      scope.spend(JSON.stringify(value.coerceString()).length)
  }
}

/** Work for each value of a JSON text, which costs more to read than a character. */
const JSON_VALUE_WORK = 64

/** Counts a JSON text and its values. Throws ExpressionFault if it is nested too deep. */
function spendOnJsonText(text: string, scope: Scope): void {
  scope.spend(text.length)
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isText = !isText
    if (isText && character === '\\') at += 1
    if (isText) continue
    if (character === '[' || character === '{' || character === ',') scope.spend(JSON_VALUE_WORK)
    if (character === '[' || character === '{') depth += 1
    if (character === ']' || character === '}') depth -= 1
    if (depth > JSON_DEPTH_MAX) {
      throw new ExpressionFault(`fromJSON reads at most ${JSON_DEPTH_MAX} levels`)
    }
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

/** A map whose values are converted when they are read, because events may be long. */
class LazyDictionary extends data.Dictionary {
  /** Entries by their names in lower case. */
  readonly #entries: ReadonlyMap<string, readonly [key: string, value: ContextValue]>
  readonly #converted = new Map<string, Value>()

  constructor(source: Readonly<Record<string, ContextValue>>) {
    super()
    this.#entries = new Map(
      Object.entries(source).map(([key, value]) => [key.toLowerCase(), [key, value]]),
    )
  }

  override get(key: string): Value | undefined {
    const name = key.toLowerCase()
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    const value = this.#converted.get(name) ?? toData(entry[1])
    this.#converted.set(name, value)
    return value
  }

  override pairs(): { key: string; value: Value }[] {
    return [...this.#entries.values()].map(([key]) => ({
      key,
      value: this.get(key) ?? new data.Null(),
    }))
  }

  override values(): Value[] {
    return this.pairs().map(({ value }) => value)
  }
}

function toData(value: ContextValue): Value {
  if (value === null) return new data.Null()
  if (typeof value === 'string') return new data.StringData(value)
  if (typeof value === 'number') return new data.NumberData(value)
  if (typeof value === 'boolean') return new data.BooleanData(value)
  if (!isList(value)) return new LazyDictionary(value)
  const list = new data.Array()
  for (const item of value) list.add(toData(item))
  return list
}

/** Narrows a value; `Array.isArray` does not for lists that are read-only. */
function isList(value: object): value is readonly ContextValue[] {
  return Array.isArray(value)
}
