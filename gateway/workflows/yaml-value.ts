/** YAML documents as values that know their place in the text, for messages about faults. */

import {
  Composer,
  type CST,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
} from 'yaml'

/** Maximum number of bytes of a file. */
const FILE_BYTES_MAX = 524_288

/** Maximum number of values of a file, with those that aliases repeat. */
const VALUES_MAX = 20_000

/** Maximum number of words, signs, blanks and line breaks of a file; each takes about 5 µs. */
const LEXEMES_MAX = 20_000

const DEPTH_MAX = 64

/** A place in a file; both numbers begin with 1. */
interface Position {
  readonly line: number
  readonly column: number
}

/** Fault of a file; the message has no final full stop. */
export class FileFault extends Error {
  readonly position: Position

  constructor(message: string, position: Position) {
    super(message)
    this.position = position
  }
}

/** Content of a value. A map has the keys in the order of the file. */
export type Content = Scalar | readonly YamlValue[] | YamlMap

type Scalar = string | number | boolean | null

/** A value without its places, as in JSON. */
export type PlainValue = Scalar | readonly PlainValue[] | { readonly [key: string]: PlainValue }

/** The values of a map by their keys. */
export type YamlMap = ReadonlyMap<string, YamlValue>

/** A value with its name, such as `jobs.build.needs`, and its place. */
export class YamlValue {
  readonly content: Content
  readonly name: string
  readonly position: Position

  constructor(content: Content, name: string, position: Position) {
    this.content = content
    this.name = name
    this.position = position
  }

  /** Throws FileFault with a message that begins with the name. */
  fail(message: string): never {
    throw new FileFault(
      this.name === '' ? `the file ${message}` : `${this.name} ${message}`,
      this.position,
    )
  }

  get isNull(): boolean {
    return this.content === null
  }

  get isMap(): boolean {
    return this.content instanceof Map
  }

  get isList(): boolean {
    return Array.isArray(this.content)
  }

  /** Returns the entries. Throws FileFault if the value is not a map. */
  map(): YamlMap {
    return this.content instanceof Map ? this.content : this.fail('must be a map')
  }

  /** Returns the values. Throws FileFault if the value is not a list. */
  list(): readonly YamlValue[] {
    return Array.isArray(this.content) ? this.content : this.fail('must be a list')
  }

  /** Returns the text; numbers and booleans are texts too. Throws FileFault for others. */
  text(): string {
    const { content } = this
    if (content === null || typeof content === 'object') return this.fail('must be a text')
    return String(content)
  }

  /** Returns the value without its places. */
  plain(): PlainValue {
    const { content } = this
    if (content instanceof Map) {
      return Object.fromEntries([...content].map(([key, value]) => [key, value.plain()]))
    }
    return Array.isArray(content) ? content.map((value) => value.plain()) : (content as Scalar)
  }

  /** Returns the texts of a list, or the one text. Throws FileFault for others. */
  texts(): readonly string[] {
    return this.isList ? this.list().map((value) => value.text()) : [this.text()]
  }
}

/**
 * Parses a file with one YAML 1.2 document. Throws FileFault for malformed YAML, a key that is
 * there twice, tags, and more or deeper values than a file may have.
 */
export function parseYaml(text: string): YamlValue {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) {
    throw new FileFault(`the file is longer than ${FILE_BYTES_MAX} bytes`, START)
  }
  const lineCounter = new LineCounter()
  const tokens = tokensOf(text, lineCounter)
  const composer = new Composer({
    merge: false,
    resolveKnownTags: false,
    // The search of the library takes quadratic time; Reader refuses the keys.
    uniqueKeys: false,
  })
  const [document, next] = composer.compose(tokens, true, text.length)
  if (document === undefined) throw new Error('the composer has made no document')
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) throw new FileFault(fault.message, positionAt(lineCounter, fault.pos[0]))
  if (next !== undefined) {
    const position = positionAt(lineCounter, next.range[0])
    throw new FileFault('the file has more than one document', position)
  }
  return new Reader(lineCounter).read(document.contents, '', 0)
}

const START: Position = { line: 1, column: 1 }

/** Maximum number of unfinished tokens: a value is in at most three others per level. */
const OPEN_TOKENS_MAX = 3 * DEPTH_MAX

/** Yields the tokens of a text. Ends before it is nested so deep that the parser becomes slow. */
function* tokensOf(text: string, lineCounter: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lineCounter.addNewLine)
  lineCounter.addNewLine(0)
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    count += 1
    if (count > LEXEMES_MAX) {
      const message = `the file has more than ${LEXEMES_MAX} words and signs`
      throw new FileFault(message, positionAt(lineCounter, parser.offset))
    }
    if (parser.stack.length > OPEN_TOKENS_MAX) {
      throw tooDeep(positionAt(lineCounter, parser.offset))
    }
  }
  yield* parser.end()
}

function tooDeep(position: Position): FileFault {
  return new FileFault(`values are nested more than ${DEPTH_MAX} deep`, position)
}

function positionAt(lineCounter: LineCounter, offset: number): Position {
  const { line, col } = lineCounter.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

/** Converts the nodes of a document, and counts them. */
class Reader {
  readonly #lineCounter: LineCounter
  readonly #anchors = new Map<string, unknown>()
  /** Nodes that aliases repeat: the last one with the anchor before the alias. */
  readonly #targets = new Map<unknown, unknown>()
  readonly #anchored = new Set<unknown>()
  #count = 0

  constructor(lineCounter: LineCounter) {
    this.#lineCounter = lineCounter
  }

  read(node: unknown, name: string, depth: number): YamlValue {
    const position = this.#positionOf(node)
    this.#count += 1
    if (this.#count > VALUES_MAX) {
      throw new FileFault(`the file has more than ${VALUES_MAX} values`, position)
    }
    if (depth > DEPTH_MAX) throw tooDeep(position)
    return new YamlValue(this.#contentOf(node, name, depth), name, position)
  }

  #contentOf(node: unknown, name: string, depth: number): Content {
    if (isAlias(node)) {
      const target = this.#targets.get(node) ?? this.#anchors.get(node.source)
      if (target === undefined) {
        throw new FileFault(`*${node.source} has no anchor`, this.#positionOf(node))
      }
      this.#targets.set(node, target)
      return this.#contentOf(target, name, depth)
    }
    const anchor = isNode(node) ? node.anchor : undefined
    if (anchor !== undefined && !this.#anchored.has(node)) {
      this.#anchored.add(node)
      this.#anchors.set(anchor, node)
    }
    if (isMap(node)) {
      const entries = new Map<string, YamlValue>()
      for (const { key, value } of node.items) {
        const text = this.#keyOf(key)
        if (entries.has(text)) {
          throw new FileFault(`the key '${text}' is there twice`, this.#positionOf(key))
        }
        entries.set(text, this.read(value, name === '' ? text : `${name}.${text}`, depth + 1))
      }
      return entries
    }
    if (isSeq(node)) {
      return node.items.map((item, at) => this.read(item, `${name}[${at}]`, depth + 1))
    }
    if (!isScalar(node)) return null
    const { value } = node
    return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string'
      ? value
      : null
  }

  #keyOf(key: unknown): string {
    if (isScalar(key) && key.value !== null) return String(key.value)
    throw new FileFault('a key must be a text', this.#positionOf(key))
  }

  #positionOf(node: unknown): Position {
    const [offset] = (isNode(node) ? node.range : undefined) ?? []
    return offset === undefined ? START : positionAt(this.#lineCounter, offset)
  }
}
