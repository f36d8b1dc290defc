/** Refs that changed since a list was parsed: the bytes of the list stay as they are. */

import { type Lines, lineAfter, nameAt, type SpecialLine, UNBORN } from './reference-lines.js'

/** New target of a ref; undefined for a ref that was deleted. */
export type ChangedTarget = Pick<SpecialLine, 'oid' | 'peeled'> | undefined

/** A ref that changed, in place of its line, or before the line that follows it. */
interface ChangedLine extends SpecialLine {
  readonly change: 'moved' | 'new' | 'deleted'
}

/** A line with attributes, or a ref that changed. */
type ListedLine = SpecialLine | ChangedLine

/** The changes of a list, of which each later list has all. */
export interface ChangedLines {
  /** The changed refs by full name. */
  readonly byName: ReadonlyMap<string, ChangedLine>
  /** Lines of which the bytes are outdated. */
  readonly outdated: ReadonlySet<number>
  /** Existing refs among the changed ones, by their object ids. */
  readonly byOid: ReadonlyMap<string, ChangedLine>
  /** The changes and the other lines with attributes, in their order. */
  readonly listed: readonly ListedLine[]
}

/** Returns the changes of a list that was just parsed. */
export function noChanges({ special }: Lines): ChangedLines {
  return { byName: new Map(), outdated: new Set(), byOid: new Map(), listed: special }
}

/** Number of changes after which a list should be parsed again, and the share of lines. */
const CHANGES_MAX = 1_000
const CHANGED_SHARE_MAX = 1 / 64

/**
 * Adds changes of refs, by their full names, and those of symbolic refs to them, such as `HEAD`.
 * Returns undefined if a symbolic ref begins or ends to have a target, or after so many changes
 * that the list should be parsed again.
 */
export function withChanges(
  lines: Lines,
  before: ChangedLines,
  targets: ReadonlyMap<string, ChangedTarget>,
): ChangedLines | undefined {
  const byName = new Map(before.byName)
  for (const [name, target] of targets) {
    const line = lineAfter(lines, name)
    const isListed = nameAt(lines, line) === name
    if (target !== undefined && target.oid.length !== lines.oidLength) return undefined
    if (target === undefined && !isListed) byName.delete(name)
    else {
      const change = target === undefined ? 'deleted' : isListed ? 'moved' : 'new'
      const { oid, peeled } = target ?? { oid: '', peeled: undefined }
      byName.set(name, { line, name, oid, peeled, target: undefined, change })
    }
  }
  for (const symbolic of lines.symbolic) {
    const { target = '' } = symbolic
    if (targets.has(symbolic.name)) return undefined
    if (!targets.has(target)) continue
    const present = targets.get(target)
    if (symbolic.oid === UNBORN || present === undefined) return undefined
    const { oid, peeled } = present
    byName.set(symbolic.name, { ...symbolic, oid, peeled, change: 'moved' })
  }
  if (byName.size > CHANGES_MAX + lines.starts.length * CHANGED_SHARE_MAX) return undefined
  return changesOf(lines, byName)
}

function changesOf(lines: Lines, byName: ReadonlyMap<string, ChangedLine>): ChangedLines {
  const changed = [...byName.values()].sort(byPosition)
  const outdated = new Set(changed.filter(({ change }) => change !== 'new').map(({ line }) => line))
  const existing = changed.filter(({ change }) => change !== 'deleted')
  const byOid = new Map(existing.map((entry) => [entry.oid, entry]))
  const others = lines.special.filter(({ line }) => !outdated.has(line))
  return { byName, outdated, byOid, listed: [...others, ...changed].sort(byPosition) }
}

/** Compares by line. A new ref is before the line that follows it; new refs are in their order. */
function byPosition(one: ListedLine, other: ListedLine): number {
  if (one.line !== other.line) return one.line - other.line
  if (!isNew(one)) return 1
  if (!isNew(other)) return -1
  return one.name < other.name ? -1 : 1
}

function isNew(entry: ListedLine): boolean {
  return 'change' in entry && entry.change === 'new'
}

/** Lines whose names have a prefix. */
export interface Range {
  readonly prefix: string
  readonly from: number
  /** Line after the last one. */
  readonly to: number
}

/** Consecutive lines without attributes whose bytes are current. */
interface Run {
  readonly from: number
  /** Line after the last one. */
  readonly to: number
}

/**
 * Yields the refs of a range: runs of lines, and between them the refs that changed and lines with
 * attributes. Lines with attributes that `isRaw` accepts are part of runs.
 */
export function* partsOf(
  range: Range,
  listed: readonly ListedLine[],
  isRaw: (entry: SpecialLine) => boolean,
): Generator<Run | ListedLine> {
  let from = range.from
  for (const entry of listed) {
    if (entry.line < range.from || entry.line > range.to) continue
    const isInside = isNew(entry) ? entry.name.startsWith(range.prefix) : entry.line < range.to
    if (!isInside || (!('change' in entry) && isRaw(entry))) continue
    if (entry.line > from) yield { from, to: entry.line }
    from = isNew(entry) ? entry.line : entry.line + 1
    if (!('change' in entry) || entry.change !== 'deleted') yield entry
  }
  if (range.to > from) yield { from, to: range.to }
}
