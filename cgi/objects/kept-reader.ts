/** A `git cat-file --batch-command` that stays open between the requests for one repository. */

import { type Git, gitEnvironment, NO_REPLACEMENTS, startGitNow } from '../process/git.js'
import { type CatFile, followCatFile, type GitObject } from './cat-file.js'

/** Maximum size of an object that such a process sends; larger ones are read by separate ones. */
export const KEPT_CONTENT_BYTES_MAX = 4_194_304

/** Default time without output after which a process with unanswered requests is killed. */
const STALL_MS = 10_000

/** Age after which a process takes no more requests, and the age at which it is killed. */
const AGE_MS_MAX = 300_000
const LIFETIME_MS_MAX = 360_000

/** Number of requests after which a process takes no more: its CPU time is limited (setrlimit). */
const REQUESTS_MAX = 50_000

/**
 * Git caches bases of deltas, by default up to 96 MB. Objects that are read often are cached by the
 * server instead.
 */
const CONFIG = [['core.deltaBaseCacheLimit', '8m']] as const

/** The process of a repository. If it ends, its unanswered requests throw. */
export class KeptReader {
  readonly pid: number | undefined
  usedAtMs = Date.now()
  readonly #catFile: CatFile
  readonly #startedAtMs = Date.now()
  readonly #endInput: () => void
  readonly #kill: () => void
  #requests = 0
  #isOpen = true
  readonly #stallMs: number
  #stallTimer: NodeJS.Timeout | undefined

  /** Starts the process in the repository at `path`. */
  constructor(git: Git, path: string, stallMs = STALL_MS) {
    this.#stallMs = stallMs
    const command = [git.file, 'cat-file', '--batch-command'] as const
    const running = startGitNow(git, 'read', command, {
      cwd: path,
      environment: { ...gitEnvironment(git, { config: CONFIG }), ...NO_REPLACEMENTS },
      timeoutMs: LIFETIME_MS_MAX,
    })
    this.pid = running.pid
    this.#endInput = () => running.input.end()
    this.#kill = () => {
      this.#isOpen = false
      running.kill()
    }
    this.#catFile = followCatFile(running, {
      endsAtLarge: true,
      onProgress: () => this.#stallTimer?.refresh(),
    })
    void running.ended.then(() => {
      this.#isOpen = false
      clearTimeout(this.#stallTimer)
    })
  }

  /** True if the process takes requests. */
  get isOpen(): boolean {
    return (
      this.#isOpen && this.#requests < REQUESTS_MAX && Date.now() - this.#startedAtMs < AGE_MS_MAX
    )
  }

  /** True if requests are unanswered. */
  get isBusy(): boolean {
    return this.#catFile.waiting() > 0
  }

  /**
   * Reads an object by a checked name, with its content or without. The process ends after the
   * header of an object that is larger than `KEPT_CONTENT_BYTES_MAX`.
   */
  async read(command: 'contents' | 'info', name: string): Promise<GitObject | undefined> {
    this.usedAtMs = Date.now()
    this.#requests += 1
    this.#stallTimer ??= setTimeout(this.#kill, this.#stallMs)
    try {
      return await this.#catFile.request({
        line: `${command} ${name}`,
        hasContent: command === 'contents',
        contentBytesMax: KEPT_CONTENT_BYTES_MAX,
      })
    } finally {
      if (!this.isBusy || !this.#isOpen) {
        clearTimeout(this.#stallTimer)
        this.#stallTimer = undefined
      }
    }
  }

  /** Lets the process answer the requests that it has, and end. */
  retire(): void {
    this.#isOpen = false
    // A microtask later, so that requests of this tick are written before the end of the input.
    setImmediate(this.#endInput)
  }
}
