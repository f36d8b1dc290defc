/** Turns the conflict of a taken name or e-mail address into `invalid`, as Gitea's API has it. */

import { Failure, isFailure } from '../../../conf/failures.js'

/** What `work` returns. Throws `invalid` where it throws `conflict`. */
export async function conflictAsInvalid<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isFailure(error, 'conflict')) throw new Failure('invalid', error.message)
    throw error
  }
}
