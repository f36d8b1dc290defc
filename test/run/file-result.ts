/** Results of test files, which test processes report to the runner. */

/** Variable with the file to which test processes append a line for each completed test file. */
export const PROGRESS_VARIABLE = 'TEST_PROGRESS_FILE'

/** Seconds after which a test file fails, so that the others still run; 0: never. */
const FILE_TIMEOUT_S = Number(process.env['TEST_FILE_TIMEOUT'] ?? 1_200)

export const FILE_TIMEOUT_MS = FILE_TIMEOUT_S * 1_000

/** Line of the progress file. */
export interface FileResult {
  readonly file: string
  readonly durationMs: number
  /** CPU time of the test process and of its children that have ended. */
  readonly cpuMs: number
  readonly passed: number
  readonly failed: number
  /** Tests that were skipped or are to be written. */
  readonly skipped: number
  /** False if a test failed or the file itself threw. */
  readonly ok: boolean
}
