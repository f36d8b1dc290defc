/** What a test process reports of each file that it ran. */

/** Names the file to which test processes append a line for each test file that ended. */
export const PROGRESS_VARIABLE = 'TEST_PROGRESS_FILE'

/** One line of the progress file. */
export interface FileResult {
  readonly file: string
  readonly durationMs: number
  /** Of this process and of the processes that it started and that have ended. */
  readonly cpuMs: number
  readonly passed: number
  readonly failed: number
  /** False also when the file itself threw. */
  readonly ok: boolean
}
