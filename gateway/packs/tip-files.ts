/** The files of branch tips, which partial clones request after their commits. */

import { LRUCache } from 'lru-cache'
import type { HistoryOwner } from './recent-histories.js'
import type { ReferenceList } from './reference-list.js'

/** Maximum number of tips of one repository. */
const TIPS_MAX = 4

/** Maximum number of files in memory, of all repositories; each takes about 100 bytes. */
const FILES_MAX = 50_000

/** Runs git for the files of a commit; undefined if there are too many. */
export type AskFiles = (
  owner: HistoryOwner,
  commit: string,
) => Promise<ReadonlySet<string> | undefined>

type Tips = ReadonlyArray<{ readonly oid: string; readonly files: ReadonlySet<string> }>

/** The tips whose files were read in one process. */
export class TipFiles {
  readonly #ask: AskFiles
  readonly #tips = new LRUCache<string, Tips>({
    maxSize: FILES_MAX,
    sizeCalculation: (tips) => tips.reduce((sum, { files }) => sum + files.size, 1),
  })

  constructor(ask: AskFiles) {
    this.#ask = ask
  }

  /** Returns the files of a tip; undefined if there are too many. Throws if git fails. */
  async read(owner: HistoryOwner, oid: string): Promise<ReadonlySet<string> | undefined> {
    const { repositoryPath } = owner
    const known = this.#known(repositoryPath).find((tip) => tip.oid === oid)
    if (known !== undefined) return known.files
    const files = await this.#ask(owner, oid)
    if (files === undefined) return undefined
    const others = this.#known(repositoryPath).slice(0, TIPS_MAX - 1)
    this.#tips.set(repositoryPath, [{ oid, files }, ...others])
    return files
  }

  /** Returns true if one tip is known to have all of these files. */
  haveAll(repositoryPath: string, references: ReferenceList, oids: readonly string[]): boolean {
    return this.#known(repositoryPath).some(
      ({ oid, files }) => oids.every((file) => files.has(file)) && references.areTips([oid]),
    )
  }

  #known(repositoryPath: string): Tips {
    return this.#tips.get(repositoryPath) ?? []
  }
}
