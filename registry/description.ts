/** The description of a package by its author, as its page shows it. */

import type { Json, JsonObject } from '../conf/package.js'

export interface Description {
  /** Summary of the package in one line. */
  readonly summary?: string | undefined
  /** Longer text, without markup. */
  readonly text?: string | undefined
  readonly license?: string | undefined
  /** Unchecked address of the project. */
  readonly homepage?: string | undefined
  readonly authors?: readonly string[]
  readonly dependencies: readonly DependencyGroup[]
}

/** Dependencies of one relation, such as `Depends` or `require-dev`. */
export interface DependencyGroup {
  readonly relation: string
  /** Each has a name and its constraint in the notation of the format. */
  readonly items: readonly string[]
}

/**
 * Describes a version by its metadata and that of an index entry, if the format stores it there.
 * The metadata has any values that its author chose.
 */
export type Describe = (metadata: JsonObject) => Description

/** Describes packages of a format without metadata. */
export const describeNothing: Describe = () => ({ dependencies: [] })

/** Returns a text of the metadata; undefined if it is missing, empty or no text. */
export function textOf(value: Json | undefined): string | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}

/** Returns the texts of a list; a single text is a list of one. */
export function textsOf(value: Json | undefined): readonly string[] {
  return [value].flat().flatMap((one) => textOf(one as Json | undefined) ?? [])
}

/** Returns a JSON object; an empty one for other values. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {}
}

/** Returns the groups that have dependencies. */
export function groupsOf(groups: Readonly<Record<string, readonly string[]>>): DependencyGroup[] {
  return Object.entries(groups).flatMap(([relation, items]) =>
    items.length === 0 ? [] : [{ relation, items }],
  )
}

/** Splits a list of dependencies that are separated by commas. */
export function commaSeparated(value: Json | undefined): readonly string[] {
  return (textOf(value) ?? '').split(/\s*,\s*/).filter((one) => one !== '')
}
