/** A ref list of a repository at one moment, as git sent it, and `ls-refs` answers made from it. */

import { createHash } from 'node:crypto'
import type { ObjectFormat } from './normal-fetch.js'
import type { LsRefsRequest } from './normal-request.js'
import { addLine, findLine, lineWith, tableOf } from './oid-lines.js'
import type { OidTable } from './oid-table.js'
import { packetLine } from './pkt-line.js'
import {
  FLUSH,
  LENGTH_DIGITS,
  LETTER_U,
  type Lines,
  nameAt,
  nameOf,
  readLines,
  runInParts,
  UNBORN,
} from './reference-lines.js'

/** Returns the `ls-refs` request whose answer suffices to answer every `ls-refs` request. */
export function referenceListRequest(objectFormat: ObjectFormat): Buffer {
  const head = `${packetLine('command=ls-refs\n')}${packetLine(`object-format=${objectFormat}`)}`
  const tail = ['peel\n', 'symrefs\n', 'unborn\n'].map(packetLine).join('')
  return Buffer.from(`${head}0001${tail}0000`)
}

/** Bounds of the bytes of answers cached with one list; they are few because clients are alike. */
const ANSWERS_BYTES_MIN = 65_536
const ANSWERS_BYTES_MAX = 1_048_576

const texts = new WeakMap<LsRefsRequest, string>()

/** Returns a text that is equal for equivalent requests. */
function textOf(request: LsRefsRequest): string {
  const known = texts.get(request)
  if (known !== undefined) return known
  const { peel, symrefs, unborn, prefixes } = request
  const text = [peel, symrefs, unborn, ...prefixes].join('\n')
  texts.set(request, text)
  return text
}

/** Approximate memory use of a line with attributes. */
const SPECIAL_LINE_BYTES = 400

/**
 * The refs of one repository in one state. They stay in the form in which git sent them, so a list
 * of half a million refs takes 40 MB, and most answers are slices of it.
 */
export class ReferenceList {
  /** Approximate memory use in bytes, including the cached answers. */
  readonly weightBytes: number
  readonly #lines: Lines
  /** Lines by their object ids; shared with the lists that were derived from this one. */
  readonly #table: OidTable
  readonly #answers = new Map<string, Buffer>()
  readonly #answersBytesMax: number
  #answersBytes = 0
  #peeled: ReadonlySet<string | undefined> | undefined
  #tagsDigest: string | undefined

  private constructor(lines: Lines, table: OidTable) {
    this.#lines = lines
    this.#table = table
    const bytes = lines.bytes.byteLength
    this.#answersBytesMax = Math.min(Math.max(2 * bytes, ANSWERS_BYTES_MIN), ANSWERS_BYTES_MAX)
    const special = lines.special.length * SPECIAL_LINE_BYTES
    const index = lines.starts.byteLength + table.bytes
    this.weightBytes = bytes + index + special + this.#answersBytesMax
  }

  /**
   * Parses an answer to `referenceListRequest`; returns undefined if it is not a complete one. Lets
   * other work run between the parts of a long list.
   */
  static async parse(answer: Buffer): Promise<ReferenceList | undefined> {
    const lines = await runInParts(readLines(answer))
    return lines && new ReferenceList(lines, await runInParts(tableOf(lines)))
  }

  /**
   * Returns the list with new object ids for these branches (by full name) and for symbolic refs to
   * them, such as `HEAD`. Returns undefined if a branch is not in the list, or after so many moves
   * that the list must be parsed again.
   */
  withMoved(branches: ReadonlyMap<string, string>): ReferenceList | undefined {
    if (this.#table.isFull) return undefined
    const { starts, special, oidLength } = this.#lines
    const moved = new Map<number, string>()
    for (const [name, oid] of branches) {
      const line = this.#lineAfter(name)
      if (nameAt(this.#lines, line) !== name || oid.length !== oidLength) return undefined
      moved.set(line, oid)
    }
    for (const { line, target } of special) {
      const oid = target === undefined ? undefined : branches.get(target)
      if (oid !== undefined) moved.set(line, oid)
      else if (target !== undefined) moved.delete(line)
    }
    const bytes = Buffer.from(this.#lines.bytes)
    const former = new Set<string>()
    for (const [line, oid] of moved) {
      const at = (starts[line] ?? 0) + LENGTH_DIGITS
      former.add(bytes.toString('latin1', at, at + oidLength))
      bytes.write(oid, at, 'latin1')
    }
    const movedSpecial = special.map((entry) => {
      const oid = moved.get(entry.line)
      return oid === undefined ? entry : { ...entry, oid }
    })
    const lines = { ...this.#lines, bytes, special: movedSpecial }
    for (const line of moved.keys()) addLine(this.#table, lines, line)
    // The table had one line for each id: another ref may still have the id that a branch had.
    for (const oid of former) {
      const line = lineWith(lines, oid)
      if (line !== undefined) addLine(this.#table, lines, line)
    }
    return new ReferenceList(lines, this.#table)
  }

  /** Returns the bytes that git would answer to this request; a long answer has several pieces. */
  answer(request: LsRefsRequest): readonly Buffer[] {
    const key = textOf(request)
    const known = this.#answers.get(key)
    if (known !== undefined) return [known]
    const pieces = this.#rangesOf(request.prefixes).flatMap((range) => [
      ...this.#piecesOf(range, request),
    ])
    pieces.push(FLUSH)
    const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
    if (bytes > ANSWERS_BYTES_MAX) return pieces.flatMap(split)
    const answer = Buffer.concat(pieces, bytes)
    this.#remember(key, answer)
    return [answer]
  }

  /**
   * Yields the packets of the answer to a request, without the flush-pkt, in pieces of less than
   * twice `PIECE_BYTES`; the first packet is in the first piece. Each piece is made when it is
   * requested, so that a long list does not block the event loop.
   */
  *packets(request: Omit<LsRefsRequest, 'command' | 'objectFormat'>): Generator<Buffer> {
    let waiting: Buffer[] = []
    let bytes = 0
    for (const range of this.#rangesOf(request.prefixes)) {
      for (const piece of this.#piecesOf(range, request)) {
        for (const part of split(piece)) {
          waiting.push(part)
          bytes += part.byteLength
          if (bytes < PIECE_BYTES) continue
          yield joined(waiting, bytes)
          waiting = []
          bytes = 0
        }
      }
    }
    if (bytes > 0) yield joined(waiting, bytes)
  }

  /** Returns the ranges of lines whose names have one of the prefixes; all lines without any. */
  #rangesOf(prefixes: readonly string[]): readonly Range[] {
    const end = this.#lines.starts.length - 1
    if (prefixes.length === 0) return [{ from: 0, to: end }]
    const ranges: { from: number; to: number }[] = []
    // In their order, a prefix follows the shorter ones that include it.
    for (const prefix of prefixes) {
      const from = this.#lineAfter(prefix)
      const after = successorOf(prefix)
      const to = after === undefined ? end : this.#lineAfter(after)
      const last = ranges.at(-1)
      if (last !== undefined && from < last.to) last.to = Math.max(last.to, to)
      else if (from < to) ranges.push({ from, to })
    }
    return ranges
  }

  /** Yields the packets of a range. Only lines with attributes may differ from git's list. */
  *#piecesOf(
    range: Range,
    { peel, symrefs, unborn }: Pick<LsRefsRequest, 'peel' | 'symrefs' | 'unborn'>,
  ): Generator<Buffer> {
    const { bytes, starts, special } = this.#lines
    let from = range.from
    for (const { line, oid, name, target, peeled } of special) {
      if (line < range.from || line >= range.to) continue
      const isUnborn = oid === UNBORN
      const isSame = (symrefs || target === undefined) && (peel || peeled === undefined)
      if (isSame && (unborn || !isUnborn)) continue
      if (line > from) yield bytes.subarray(starts[from], starts[line])
      from = line + 1
      if (isUnborn) continue
      const attributes = [
        symrefs && target !== undefined ? ` symref-target:${target}` : '',
        peel && peeled !== undefined ? ` peeled:${peeled}` : '',
      ].join('')
      yield Buffer.from(packetLine(`${oid} ${name}${attributes}\n`), 'latin1')
    }
    if (range.to > from) yield bytes.subarray(starts[from], starts[range.to])
  }

  #remember(key: string, answer: Buffer): void {
    const bytes = key.length + answer.byteLength
    if (bytes > this.#answersBytesMax) return
    if (this.#answersBytes + bytes > this.#answersBytesMax) {
      this.#answers.clear()
      this.#answersBytes = 0
    }
    this.#answers.set(key, answer)
    this.#answersBytes += bytes
  }

  /** Returns true if each of these objects is the target of a ref or of an annotated tag. */
  areTips(oids: readonly string[]): boolean {
    return oids.every((oid) => this.#hasTip(oid))
  }

  /** Returns true if each is the target of a ref: in protocol v0, a client can want no other. */
  areTargets(oids: readonly string[]): boolean {
    return oids.every((oid) => this.#hasTarget(oid))
  }

  /** Returns the full name of a branch that points to this commit, if there is one. */
  branchAt(oid: string): string | undefined {
    const line = this.#lineOf(oid)
    if (line === undefined) return undefined
    const [symbolic] = this.#lines.special.filter((entry) => entry.line === line)
    const name = symbolic?.target ?? nameAt(this.#lines, line)
    return name?.startsWith('refs/heads/') ? name : undefined
  }

  /** Returns the id that a ref has, by its full name; undefined if it does not exist. */
  targetOf(name: string): string | undefined {
    const line = this.#lineAfter(name)
    if (nameAt(this.#lines, line) !== name) return undefined
    const { bytes, starts, oidLength } = this.#lines
    const at = (starts[line] ?? 0) + LENGTH_DIGITS
    return bytes.toString('latin1', at, at + oidLength)
  }

  /** Returns the distinct targets of refs below prefixes, those of the first `countMax` by name. */
  targetsBelow(prefixes: readonly string[], countMax: number): readonly string[] {
    const { bytes, starts, oidLength } = this.#lines
    const oids = new Set<string>()
    let left = countMax
    for (const { from, to } of this.#rangesOf(prefixes)) {
      for (const start of starts.subarray(from, Math.min(to, from + left))) {
        oids.add(bytes.toString('latin1', start + LENGTH_DIGITS, start + LENGTH_DIGITS + oidLength))
      }
      left -= Math.min(to - from, left)
    }
    return [...oids]
  }

  /** Returns those of the objects that are not the target of a ref or of an annotated tag. */
  withoutTips(oids: readonly string[]): readonly string[] {
    return oids.filter((oid) => !this.#hasTip(oid))
  }

  /** Distinct objects that refs point to. */
  get oids(): readonly string[] {
    const { bytes, starts, oidLength } = this.#lines
    const oids = new Set<string>()
    for (const start of starts.subarray(0, -1)) {
      if (bytes[start + LENGTH_DIGITS] === LETTER_U) continue
      oids.add(bytes.toString('latin1', start + LENGTH_DIGITS, start + LENGTH_DIGITS + oidLength))
    }
    return [...oids]
  }

  #hasTip(oid: string): boolean {
    this.#peeled ??= new Set(this.#lines.special.map(({ peeled }) => peeled))
    return this.#hasTarget(oid) || this.#peeled.has(oid)
  }

  #hasTarget(oid: string): boolean {
    return this.#lineOf(oid) !== undefined
  }

  /** Returns the line of a ref that points to this object; of several, any one. */
  #lineOf(oid: string): number | undefined {
    if (oid.length !== this.#lines.oidLength) return undefined
    return findLine(this.#table, this.#lines, { bytes: Buffer.from(oid, 'latin1'), at: 0 })
  }

  /** Digest of all tags, equal for lists with the same tags. */
  get tagsDigest(): string {
    if (this.#tagsDigest === undefined) {
      const { bytes, starts } = this.#lines
      const hash = createHash('sha256')
      for (const { from, to } of this.#rangesOf(['refs/tags/'])) {
        hash.update(bytes.subarray(starts[from], starts[to]))
      }
      this.#tagsDigest = hash.digest('hex')
    }
    return this.#tagsDigest
  }

  /** Returns the first line whose name is not smaller than this text; the end if there is none. */
  #lineAfter(text: string): number {
    const { bytes, starts } = this.#lines
    const wanted = Buffer.from(text, 'latin1')
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      const { start, end } = nameOf(this.#lines, middle)
      if (bytes.compare(wanted, 0, wanted.length, start, end) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

interface Range {
  readonly from: number
  /** Line after the last one. */
  readonly to: number
}

/** Returns the smallest text of bytes that is larger than all with this prefix, if there is one. */
function successorOf(prefix: string): string | undefined {
  const beginning = prefix.replace(/\u00ff+$/, '')
  if (beginning === '') return undefined
  const last = beginning.charCodeAt(beginning.length - 1)
  return beginning.slice(0, -1) + String.fromCharCode(last + 1)
}

/** Size of the pieces of a long answer, which are sent one after the other. */
const PIECE_BYTES = 262_144

function split(piece: Buffer): readonly Buffer[] {
  const count = Math.ceil(piece.byteLength / PIECE_BYTES)
  return Array.from({ length: count }, (_, at) =>
    piece.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
  )
}

/** Returns the pieces as one buffer; a single piece is not copied. */
function joined(pieces: readonly Buffer[], bytes: number): Buffer {
  const [first, ...others] = pieces
  return first !== undefined && others.length === 0 ? first : Buffer.concat(pieces, bytes)
}
