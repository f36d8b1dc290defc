/** Reason of an error for people. */

/** Returns the message of the innermost cause, which is usually the error of the system. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}
