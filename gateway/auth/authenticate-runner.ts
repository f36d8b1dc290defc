/** Authentication of runners, by the UUID and the token that they got when they registered. */

import { timingSafeEqual } from 'node:crypto'
import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import type { Database } from '../../sql/database/database.js'
import { findRunner } from '../../sql/runners/runners.js'
import type { Identity } from './authenticate.js'
import { hashToken } from './token.js'

/**
 * Returns the runner of a request. Throws `bad_credentials` if the UUID or the token is wrong, or
 * if the runner was deleted: runners stop for good when they get this answer.
 */
export async function authenticateRunner(
  db: Database,
  { headers }: Pick<Request, 'headers'>,
): Promise<Identity> {
  const uuid = headers.get('x-runner-uuid') ?? ''
  const runner = uuid === '' ? undefined : await findRunner(db, uuid)
  const hash = Buffer.from(hashToken(headers.get('x-runner-token') ?? ''))
  if (runner === undefined || !timingSafeEqual(Buffer.from(runner.tokenHash), hash)) {
    throw new Failure('bad_credentials', 'The runner is not registered, or its token is wrong.')
  }
  return { kind: 'runner', runner }
}
