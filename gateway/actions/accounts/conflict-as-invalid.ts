/** Status of a taken name or e-mail address: Gitea's API returns 422 in place of 409. */

import { Failure, isFailure } from '../../../conf/failures.js'

/** Returns the result of `work`. Throws `invalid` if `work` throws `conflict`. */
export async function conflictAsInvalid<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isFailure(error, 'conflict')) throw new Failure('invalid', error.message)
    throw error
  }
}
