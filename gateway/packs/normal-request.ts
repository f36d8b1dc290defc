/** Requests to upload-pack in a form in which equivalent ones are equal (gitprotocol-v2(5)). */

import { type FetchRequest, normalFetch, type ObjectFormat } from './normal-fetch.js'
import { normalizeV0 } from './normal-request-v0.js'
import { readSections } from './pkt-line.js'

/** An `ls-refs` request, which lists refs. */
export interface LsRefsRequest {
  readonly command: 'ls-refs'
  readonly objectFormat: ObjectFormat
  readonly peel: boolean
  readonly symrefs: boolean
  readonly unborn: boolean
  /** Ref name prefixes, sorted; if there are none, all refs are listed. */
  readonly prefixes: readonly string[]
}

export type NormalRequest = LsRefsRequest | FetchRequest

const PREFIXES_MAX = 1_000

/**
 * Parses a request into its normal form. Returns undefined if the request is malformed, or contains
 * a line that is not known to have an answer computable from refs and objects alone. Git itself
 * must answer such a request.
 */
export function normalize(body: Buffer, version: 0 | 2): NormalRequest | undefined {
  return version === 0 ? normalizeV0(body) : normalizeV2(body)
}

function normalizeV2(body: Buffer): NormalRequest | undefined {
  const sections = readSections(body)
  const [first, ...capabilities] = sections?.head ?? []
  const objectFormat = readCapabilities(capabilities)
  if (sections === undefined || objectFormat === undefined) return undefined
  if (first === 'command=ls-refs') return readLsRefs(sections.tail, objectFormat)
  if (first !== 'command=fetch') return undefined
  return normalFetch(sections.tail, { version: 2, objectFormat, flags: FETCH_FLAGS })
}

/**
 * Returns the object format from the capability lines after a command, `sha1` by default. Ignores
 * `agent` and `session-id`, which do not change the answer. Returns undefined for any other line.
 */
export function readCapabilities(lines: readonly string[]): ObjectFormat | undefined {
  let format: ObjectFormat | undefined
  for (const line of lines) {
    if (line === 'object-format=sha1' || line === 'object-format=sha256') {
      if (format !== undefined) return undefined
      format = line.slice('object-format='.length) as ObjectFormat
    } else if (!/^(?:agent|session-id)=[\u0021-\u007e]*$/.test(line)) {
      return undefined
    }
  }
  return format ?? 'sha1'
}

/** A prefix without control characters: git stops at a zero byte, and ref names contain none. */
const PREFIX = /^ref-prefix ([^\u0000-\u001f\u007f]*)$/

function readLsRefs(
  lines: readonly string[],
  objectFormat: ObjectFormat,
): LsRefsRequest | undefined {
  const flags = new Set<string>()
  const prefixes = new Set<string>()
  for (const line of lines) {
    const [, prefix] = PREFIX.exec(line) ?? []
    if (prefix !== undefined) prefixes.add(prefix)
    else if (line === 'peel' || line === 'symrefs' || line === 'unborn') flags.add(line)
    else return undefined
  }
  if (prefixes.size > PREFIXES_MAX) return undefined
  return {
    command: 'ls-refs',
    objectFormat,
    peel: flags.has('peel'),
    symrefs: flags.has('symrefs'),
    unborn: flags.has('unborn'),
    prefixes: [...prefixes].toSorted(),
  }
}

/** Arguments of a fetch of protocol v2 that have no value. */
export const FETCH_FLAGS: ReadonlySet<string> = new Set([
  'thin-pack',
  'no-progress',
  'include-tag',
  'ofs-delta',
  'deepen-relative',
  'wait-for-done',
  'done',
])
