/** A ref list of a repository at one moment, as git sent it, and `ls-refs` answers made from it. */

import { createHash } from 'node:crypto'
import { VISIBLE_NAME } from '../../cgi/refs/pushed-references.js'
import { joined, PIECE_BYTES, split } from './answer-pieces.js'
import {
  type ChangedLines,
  type ChangedTarget,
  noChanges,
  partsOf,
  type Range,
  withChanges,
} from './changed-lines.js'
import { formOf, type LineForm } from './line-forms.js'
import type { ObjectFormat } from './normal-fetch.js'
import type { LsRefsRequest } from './normal-request.js'
import { findLine, lineWith, tableOf } from './oid-lines.js'
import type { OidTable } from './oid-table.js'
import { packedDifferences } from './packed-differences.js'
import { packetLine } from './pkt-line.js'
import {
  FLUSH,
  type Lines,
  lineAfter,
  nameAt,
  oidAt,
  readLines,
  runInParts,
  runWhole,
  type SpecialLine,
  UNBORN,
} from './reference-lines.js'

/**
 * Returns an `ls-refs` request for all refs, or for those with a prefix. The answer suffices to
 * answer each `ls-refs` request for the same refs.
 */
export function referenceListRequest(
  objectFormat: ObjectFormat,
  prefixes: readonly string[] = [],
): Buffer {
  const head = `${packetLine('command=ls-refs\n')}${packetLine(`object-format=${objectFormat}`)}`
  const lines = ['peel', 'symrefs', 'unborn', ...prefixes.map((prefix) => `ref-prefix ${prefix}`)]
  const tail = lines.map((line) => packetLine(`${line}\n`)).join('')
  return Buffer.from(`${head}0001${tail}0000`, 'latin1')
}

/** Bounds of the bytes of answers cached with one list; they are few because clients are alike. */
const ANSWERS_BYTES_MIN = 65_536
const ANSWERS_BYTES_MAX = 1_048_576

/** Maximum size of a list, and of `packed-refs`, that are compared without a wait. */
export const SHORT_BYTES_MAX = 65_536

const TAGS = 'refs/tags/'

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

/** Approximate memory use of a line with attributes, or of a changed ref. */
const SPECIAL_LINE_BYTES = 400

/**
 * The refs of one repository in one state. They stay in the form in which git sent them, so a list
 * of half a million refs takes 40 MB, and most answers are slices of it.
 */
export class ReferenceList {
  /** Approximate memory use in bytes, including the cached answers. */
  readonly weightBytes: number
  readonly #lines: Lines
  /** Lines by their object ids; like the lines, shared with the lists that follow this one. */
  readonly #table: OidTable
  readonly #changes: ChangedLines
  readonly #answers = new Map<string, Buffer>()
  readonly #answersBytesMax: number
  #answersBytes = 0
  #peeled: ReadonlySet<string | undefined> | undefined
  /** Lines that have the id that a changed ref had before. */
  readonly #others = new Map<string, number | undefined>()
  /** Shared with the lists that have the same tags. */
  readonly #tags: { digest?: string }

  private constructor(
    lines: Lines,
    table: OidTable,
    changes = noChanges(lines),
    tags: { digest?: string } = {},
  ) {
    this.#lines = lines
    this.#table = table
    this.#changes = changes
    this.#tags = tags
    const bytes = lines.bytes.byteLength
    this.#answersBytesMax = Math.min(Math.max(2 * bytes, ANSWERS_BYTES_MIN), ANSWERS_BYTES_MAX)
    const special = (lines.special.length + changes.byName.size) * SPECIAL_LINE_BYTES
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
   * Returns the list after changes of refs, by full name, and of symbolic refs to them, such as
   * `HEAD`. It shares the bytes of this list, so its cost depends on the changes. Returns undefined
   * if the list must be parsed again; see `withChanges`.
   */
  withChanges(targets: ReadonlyMap<string, ChangedTarget>): ReferenceList | undefined {
    const changes = withChanges(this.#lines, this.#changes, targets)
    if (changes === undefined) return undefined
    const isTag = [...targets.keys()].some((name) => name.startsWith(TAGS))
    return new ReferenceList(this.#lines, this.#table, changes, isTag ? {} : this.#tags)
  }

  /**
   * Returns the visible refs that differ from files of refs, by full name, with their ids there;
   * see `packedDifferences`. Lets other work run between the parts of a long list.
   */
  async differences(contents: ReferenceContents): Promise<Differences | undefined> {
    const found = await runInParts(packedDifferences(this.#lines, contents.packed))
    return found && this.#visibleDifferences(found, contents.loose)
  }

  /** Returns the same as `differences` without a wait; undefined for a long list. */
  differencesNow(contents: ReferenceContents): Differences | undefined {
    if (this.#lines.bytes.byteLength > SHORT_BYTES_MAX) return undefined
    const found = runWhole(packedDifferences(this.#lines, contents.packed))
    return found && this.#visibleDifferences(found, contents.loose)
  }

  #visibleDifferences(packed: Differences, loose: ReferenceContents['loose']): Differences {
    const differences = new Map<string, string | undefined>()
    const names = [...packed.keys(), ...this.#changes.byName.keys(), ...loose.keys()]
    for (const name of new Set(names)) {
      if (!VISIBLE_NAME.test(name)) continue
      const packedOid = packed.has(name) ? packed.get(name) : this.#parsedOid(name)
      const oid = loose.get(name) ?? packedOid
      if (oid !== this.targetOf(name)?.oid) differences.set(name, oid)
    }
    return differences
  }

  /** Returns the id that a ref had when the list was parsed. */
  #parsedOid(name: string): string | undefined {
    const line = lineAfter(this.#lines, name)
    return nameAt(this.#lines, line) === name ? oidAt(this.#lines, line) : undefined
  }

  /** Returns the bytes that git would answer to this request; a long answer has several pieces. */
  answer(request: LsRefsRequest): readonly Buffer[] {
    const key = textOf(request)
    const known = this.#answers.get(key)
    if (known !== undefined) return [known]
    const pieces = this.#rangesOf(request.prefixes).flatMap((range) => [
      ...this.#piecesOf(range, formOf(request)),
    ])
    pieces.push(FLUSH)
    const bytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
    if (bytes > ANSWERS_BYTES_MAX) return pieces.flatMap(split)
    const answer = Buffer.concat(pieces, bytes)
    this.#remember(key, answer)
    return [answer]
  }

  /**
   * Yields the packets of the refs with a prefix, or of all, in pieces of less than twice
   * `PIECE_BYTES`; the first packet is in the first piece. Each piece is made when it is requested,
   * so that a long list does not block the event loop.
   */
  *packets(prefixes: readonly string[], form: LineForm): Generator<Buffer> {
    let waiting: Buffer[] = []
    let bytes = 0
    for (const range of this.#rangesOf(prefixes)) {
      for (const piece of this.#piecesOf(range, form)) {
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
    if (prefixes.length === 0) return [{ prefix: '', from: 0, to: end }]
    const ranges: Range[] = []
    // In their order, a prefix follows the shorter ones that include it.
    for (const prefix of prefixes) {
      const last = ranges.at(-1)
      if (last !== undefined && prefix.startsWith(last.prefix)) continue
      const after = successorOf(prefix)
      const to = after === undefined ? end : lineAfter(this.#lines, after)
      ranges.push({ prefix, from: lineAfter(this.#lines, prefix), to })
    }
    return ranges
  }

  /** Yields the packets of a range. Only lines with attributes may differ from git's list. */
  *#piecesOf(range: Range, { isRaw, format }: LineForm): Generator<Buffer> {
    const { bytes, starts } = this.#lines
    for (const part of partsOf(range, this.#changes.listed, isRaw)) {
      if ('from' in part) yield bytes.subarray(starts[part.from], starts[part.to])
      else if (part.oid !== UNBORN) yield Buffer.from(format(part), 'latin1')
    }
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
    const changed = this.#changes.byOid.get(oid)
    const line = changed?.line ?? this.#lineOf(oid)
    if (line === undefined) return undefined
    const symbolic = changed ?? this.#lines.symbolic.find((entry) => entry.line === line)
    const name = symbolic?.target ?? changed?.name ?? nameAt(this.#lines, line)
    return name?.startsWith('refs/heads/') ? name : undefined
  }

  /** Returns the target of a ref, by its full name; undefined if the ref does not exist. */
  targetOf(name: string): Pick<SpecialLine, 'oid' | 'target' | 'peeled'> | undefined {
    const changed = this.#changes.byName.get(name)
    if (changed !== undefined) return changed.change === 'deleted' ? undefined : changed
    const line = lineAfter(this.#lines, name)
    if (nameAt(this.#lines, line) !== name) return undefined
    const special = this.#lines.special.find((entry) => entry.line === line)
    return special ?? { oid: oidAt(this.#lines, line), target: undefined, peeled: undefined }
  }

  /** Returns the distinct targets of refs below prefixes, those of the first `countMax` by name. */
  targetsBelow(prefixes: readonly string[], countMax: number): readonly string[] {
    return [...new Set(this.#targetsOf(prefixes, countMax))]
  }

  /** Returns a page of the refs with a prefix, by name, and the number of all of them. */
  page(prefix: string, { offset, limit }: { offset: number; limit: number }): ReferencePage {
    const entries: { name: string; id: string }[] = []
    let total = 0
    const add = (name: string | undefined, id: string) => {
      const text = Buffer.from(name ?? '', 'latin1').toString()
      if (entries.length < limit) entries.push({ name: text, id })
    }
    for (const range of this.#rangesOf([prefix])) {
      for (const part of partsOf(range, this.#changes.listed, () => true)) {
        if ('from' in part) {
          const from = Math.min(part.from + Math.max(0, offset - total), part.to)
          const to = Math.min(part.to, from + limit)
          for (let at = from; at < to; at += 1) add(nameAt(this.#lines, at), oidAt(this.#lines, at))
          total += part.to - part.from
        } else {
          if (total >= offset) add(part.name, part.oid)
          total += 1
        }
      }
    }
    return { entries, total }
  }

  /** Returns those of the objects that are not the target of a ref or of an annotated tag. */
  withoutTips(oids: readonly string[]): readonly string[] {
    return oids.filter((oid) => !this.#hasTip(oid))
  }

  /** Targets of all refs, made while they are read; those of several refs are repeated. */
  get oids(): Iterable<string> {
    return { [Symbol.iterator]: () => this.#targetsOf([], Number.POSITIVE_INFINITY) }
  }

  /** Yields the targets of the first refs below prefixes. */
  *#targetsOf(prefixes: readonly string[], countMax: number): Generator<string> {
    let left = countMax
    for (const range of this.#rangesOf(prefixes)) {
      for (const part of partsOf(range, this.#changes.listed, ({ oid }) => oid !== UNBORN)) {
        if (left <= 0) return
        if ('from' in part) {
          const to = Math.min(part.to, part.from + left)
          for (let line = part.from; line < to; line += 1) yield oidAt(this.#lines, line)
          left -= to - part.from
        } else if (part.oid !== UNBORN) {
          yield part.oid
          left -= 1
        }
      }
    }
  }

  #hasTip(oid: string): boolean {
    return this.#hasTarget(oid) || this.#peeledOids.has(oid)
  }

  get #peeledOids(): ReadonlySet<string | undefined> {
    this.#peeled ??= new Set(this.#changes.listed.map(({ peeled }) => peeled))
    return this.#peeled
  }

  #hasTarget(oid: string): boolean {
    return this.#changes.byOid.has(oid) || this.#lineOf(oid) !== undefined
  }

  /** Returns true if one of these objects is the target of an annotated tag. */
  haveTagOf(oids: Iterable<string>): boolean {
    const peeled = this.#peeledOids
    for (const oid of oids) if (peeled.has(oid)) return true
    return false
  }

  /** Returns the line of an unchanged ref that points to this object; of several, any one. */
  #lineOf(oid: string): number | undefined {
    if (oid.length !== this.#lines.oidLength) return undefined
    const line = findLine(this.#table, this.#lines, { bytes: Buffer.from(oid, 'latin1'), at: 0 })
    const { outdated } = this.#changes
    if (line === undefined || !outdated.has(line)) return line
    // The table has one line for each id: another ref may still have the id that this one had.
    if (!this.#others.has(oid)) this.#others.set(oid, lineWith(this.#lines, oid, outdated))
    return this.#others.get(oid)
  }

  /** Digest of all tags, equal for lists with the same tags. */
  get tagsDigest(): string {
    if (this.#tags.digest === undefined) {
      const hash = createHash('sha256')
      const all = formOf({ peel: true, symrefs: true, unborn: true })
      for (const range of this.#rangesOf([TAGS])) {
        for (const piece of this.#piecesOf(range, all)) hash.update(piece)
      }
      this.#tags.digest = hash.digest('hex')
    }
    return this.#tags.digest
  }
}

/** Ids of refs by full name; undefined for refs that do not exist. */
type Differences = ReadonlyMap<string, string | undefined>

/** Contents of `packed-refs`, and the ids of loose refs by full name. */
interface ReferenceContents {
  readonly packed: Buffer
  readonly loose: ReadonlyMap<string, string>
}

/** Some of the refs with a prefix. */
export interface ReferencePage {
  /** Full names as UTF-8 text, and the ids of the objects. */
  readonly entries: readonly { readonly name: string; readonly id: string }[]
  /** Number of all refs with the prefix. */
  readonly total: number
}

/** Returns the smallest text of bytes that is larger than all with this prefix, if there is one. */
function successorOf(prefix: string): string | undefined {
  const beginning = prefix.replace(/\u00ff+$/, '')
  if (beginning === '') return undefined
  const last = beginning.charCodeAt(beginning.length - 1)
  return beginning.slice(0, -1) + String.fromCharCode(last + 1)
}
