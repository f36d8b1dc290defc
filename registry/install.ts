/** Instructions for installing a package, as its page shows them. */

import type { PackageFile } from '../conf/package.js'

/** A version of a package, and the registry that has it. */
export interface InstalledPackage {
  /** URL of the owner's registry of the format, without a slash at the end. */
  readonly registryUrl: string
  readonly packageName: string
  readonly version: string
  /** Files of the version; at least one. */
  readonly files: readonly Pick<PackageFile, 'name' | 'compositeKey'>[]
}

/** Text to type or to write, and where. */
export interface Instruction {
  readonly where: string
  readonly text: string
}

/** Returns the instructions for a version, in the words of the format's usual client. */
export type Install = (installed: InstalledPackage) => readonly Instruction[]

export const IN_A_SHELL = 'In a shell'

/** Returns the parts of the first file's composite key, such as a distribution and a component. */
export function keyPartsOf(files: InstalledPackage['files']): readonly string[] {
  return files[0]?.compositeKey.split('|') ?? []
}

/** Quotes a text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
