/** Cancellation of a task: the running step ends, and later ones have a short time. */

/** Signals of a task's cancellation. */
export class Cancellation {
  readonly #cancelled = new AbortController()
  readonly #ended = new AbortController()

  get isCancelled(): boolean {
    return this.#cancelled.signal.aborted
  }

  /** Ends the running step. Steps that start later, such as those with `always()`, have a grace. */
  cancel(graceMs: number): void {
    this.#cancelled.abort()
    setTimeout(() => this.#ended.abort(), graceMs).unref()
  }

  /** Returns the signal that ends a step that starts now. */
  signalOfStep(): AbortSignal {
    return this.isCancelled ? this.#ended.signal : this.#cancelled.signal
  }
}
