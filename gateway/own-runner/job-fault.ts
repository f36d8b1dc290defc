/** Faults of a job or of its workflow file, which its log shows. */

import { ExpressionFault } from '../workflows/expression-work.js'
import { FileFault } from '../workflows/yaml-value.js'

/** Fault of a job; the message has no final full stop. */
export class JobFault extends Error {}

/** Returns the sentence for the log. Throws the error if it is no fault of the job. */
export function faultSentence(error: unknown): string {
  if (error instanceof FileFault) {
    const { line, column } = error.position
    return `Error: line ${line}, column ${column}: ${error.message}.`
  }
  if (error instanceof JobFault || error instanceof ExpressionFault) {
    return `Error: ${error.message}.`
  }
  throw error
}
