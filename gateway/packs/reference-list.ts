/** A ref list of a repository at one moment, as git sent it, and `ls-refs` answers made from it. */

import { createHash } from 'node:crypto'
import type { ObjectFormat } from './normal-fetch.js'
import type { LsRefsRequest } from './normal-request.js'
import { packetLine, readSections } from './pkt-line.js'

/** Returns the `ls-refs` request whose answer suffices to answer every `ls-refs` request. */
export function referenceListRequest(objectFormat: ObjectFormat): Buffer {
  const head = `${packetLine('command=ls-refs\n')}${packetLine(`object-format=${objectFormat}`)}`
  const tail = ['peel\n', 'symrefs\n', 'unborn\n'].map(packetLine).join('')
  return Buffer.from(`${head}0001${tail}0000`)
}

interface Line {
  readonly oid: string
  readonly name: string
  /** Attribute ` symref-target:…`, or empty. */
  readonly target: string
  /** Attribute ` peeled:…`, or empty. */
  readonly peeled: string
}

const SYMREF_TARGET = ' symref-target:'

/** Line with an object id or `unborn`, a ref name and attributes (gitprotocol-v2(5) "ls-refs"). */
const LINE =
  /^([0-9a-f]{40}|[0-9a-f]{64}|unborn) ([^ ]+)( symref-target:[^ ]+)?( peeled:[0-9a-f]+)?$/

/** Bounds of the bytes of answers cached with one list; they are few because clients are alike. */
const ANSWERS_BYTES_MIN = 16_384
const ANSWERS_BYTES_MAX = 262_144

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

/** The refs of one repository in one state. */
export class ReferenceList {
  /** Approximate memory use in bytes, including the cached answers. */
  readonly weightBytes: number
  readonly #lines: readonly Line[]
  readonly #bytes: number
  readonly #answers = new Map<string, Buffer>()
  readonly #answersBytesMax: number
  #answersBytes = 0
  #tips: ReadonlyMap<string, 'target' | 'peeled'> | undefined
  #tagsDigest: string | undefined

  private constructor(lines: readonly Line[], bytes: number) {
    this.#lines = lines
    this.#bytes = bytes
    this.#answersBytesMax = Math.min(Math.max(bytes, ANSWERS_BYTES_MIN), ANSWERS_BYTES_MAX)
    this.weightBytes = bytes + this.#answersBytesMax
  }

  /** Parses an answer to `referenceListRequest`; returns undefined if it is not a complete one. */
  static parse(answer: Buffer): ReferenceList | undefined {
    const sections = readSections(answer)
    if (sections === undefined || sections.tail.length > 0) return undefined
    const lines: Line[] = []
    for (const text of sections.head) {
      const [, oid, name, target = '', peeled = ''] = LINE.exec(text) ?? []
      if (oid === undefined || name === undefined) return undefined
      lines.push({ oid, name, target, peeled })
    }
    return new ReferenceList(lines, answer.byteLength)
  }

  /**
   * Returns the list with new object ids for these branches (by full name) and for symbolic refs to
   * them, such as `HEAD`. Returns undefined if a branch is not in the list.
   */
  withMoved(branches: ReadonlyMap<string, string>): ReferenceList | undefined {
    const names = new Set(this.#lines.map(({ name }) => name))
    if (![...branches.keys()].every((name) => names.has(name))) return undefined
    const lines = this.#lines.map((line) => {
      const oid = branches.get(line.target.slice(SYMREF_TARGET.length) || line.name)
      return oid === undefined ? line : { ...line, oid }
    })
    return new ReferenceList(lines, this.#bytes)
  }

  /** Returns the bytes that git would answer to this request. */
  answer(request: LsRefsRequest): Buffer {
    const { peel, symrefs, unborn, prefixes } = request
    const key = textOf(request)
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    let text = ''
    for (const line of this.#lines) {
      if (line.oid === 'unborn' && !(unborn && symrefs)) continue
      if (prefixes.length > 0 && !prefixes.some((prefix) => line.name.startsWith(prefix))) continue
      const attributes = (symrefs ? line.target : '') + (peel ? line.peeled : '')
      text += packetLine(`${line.oid} ${line.name}${attributes}\n`)
    }
    const answer = Buffer.from(`${text}0000`, 'latin1')
    this.#remember(key, answer)
    return answer
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
    const tips = this.#readTips()
    return oids.every((oid) => tips.has(oid))
  }

  /** Returns true if each is the target of a ref: in protocol v0, a client can want no other. */
  areTargets(oids: readonly string[]): boolean {
    const tips = this.#readTips()
    return oids.every((oid) => tips.get(oid) === 'target')
  }

  /** Returns those of the objects that are not the target of a ref or of an annotated tag. */
  withoutTips(oids: readonly string[]): readonly string[] {
    const tips = this.#readTips()
    return oids.filter((oid) => !tips.has(oid))
  }

  /** Distinct objects that refs point to. */
  get oids(): readonly string[] {
    return [...new Set(this.#lines.map(({ oid }) => oid))].filter((oid) => oid !== 'unborn')
  }

  #readTips(): ReadonlyMap<string, 'target' | 'peeled'> {
    this.#tips ??= new Map([
      ...this.#lines
        .filter(({ peeled }) => peeled !== '')
        .map(({ peeled }) => [peeled.slice(' peeled:'.length), 'peeled'] as const),
      ...this.#lines.map(({ oid }) => [oid, 'target'] as const),
    ])
    return this.#tips
  }

  /** Digest of all tags, equal for lists with the same tags. */
  get tagsDigest(): string {
    this.#tagsDigest ??= createHash('sha256')
      .update(
        this.#lines
          .filter(({ name }) => name.startsWith('refs/tags/'))
          .map(({ oid, name }) => `${oid} ${name}`)
          .join('\n'),
      )
      .digest('hex')
    return this.#tagsDigest
  }
}
