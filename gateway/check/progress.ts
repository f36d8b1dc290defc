/** Progress of a check of the whole site, which a later run continues. */

import type { CheckCode, Cursor } from './finding.js'

/** Position of a check. Everything before it was examined, and its findings were reported. */
export interface Position {
  readonly code: CheckCode
  /** Last examined id of each list of the check. */
  readonly lists: Readonly<Record<string, number>>
}

/** Follows a run, whose findings are reported later than they are found. */
export class Progress {
  /** Position of the run, with findings that are not reported yet. */
  #reached: Position | undefined
  #saved: Position | undefined

  readonly #start: Position | undefined
  readonly #save: ((position: Position) => Promise<void>) | undefined

  /** Continues at `start`. Passes each position without unreported findings before it to `save`. */
  constructor(start?: Position, save?: (position: Position) => Promise<void>) {
    this.#start = start
    this.#save = save
  }

  /** Returns true if all rows of the check were examined by an earlier run. */
  isDone(code: CheckCode, order: readonly CheckCode[]): boolean {
    return this.#start !== undefined && order.indexOf(code) < order.indexOf(this.#start.code)
  }

  /** Begins a check, and returns the cursor of its lists. */
  begin(code: CheckCode): Cursor {
    const before = this.#start?.code === code ? this.#start.lists : {}
    this.#reached = { code, lists: before }
    return {
      after: (list) => before[list] ?? 0,
      note: (list, id) => {
        this.#reached = { code, lists: { ...this.#reached?.lists, [list]: id } }
      },
    }
  }

  /** Saves the position, all findings before which were reported. */
  async save(): Promise<void> {
    if (this.#reached === undefined || this.#reached === this.#saved) return
    this.#saved = this.#reached
    await this.#save?.(this.#reached)
  }
}
