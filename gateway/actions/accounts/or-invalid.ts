/** What is a conflict elsewhere and an invalid wish here: a name or an address that is taken. */

import { Failure, isFailure } from '../../../conf/failures.js'

/** What `work` returns. Throws `invalid` where it throws `conflict`. */
export async function orInvalid<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isFailure(error, 'conflict')) throw new Failure('invalid', error.message)
    throw error
  }
}
