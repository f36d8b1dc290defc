/** Authentication on the routes for artifacts: by a runtime token, or by a signed address. */

import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { findRunningTask } from '../../sql/runs/tasks.js'
import { ADDRESS_PARAMETER, readAddress } from './artifact-address.js'
import type { AuthenticationContext, Identity } from './authenticate.js'
import { readCredentials } from './credentials.js'
import { readRuntimeToken } from './runtime-token.js'

/** Returns the task of a runtime token. Throws `bad_credentials`, also when the task has ended. */
export async function authenticateTask(
  { db, settings }: AuthenticationContext,
  { headers }: Pick<Request, 'headers'>,
): Promise<Identity> {
  const credentials = readCredentials(headers.get('authorization'))
  const token = credentials.kind === 'token' ? credentials.token : ''
  const secret = await openInstanceSecret(settings.data.dir)
  const taskId = readRuntimeToken(secret, token, Date.now())
  const task = taskId === undefined ? undefined : await findRunningTask(db, taskId)
  if (task === undefined) {
    throw new Failure('bad_credentials', 'The runtime token is wrong, or its job has ended.')
  }
  return { kind: 'task', task }
}

/** Returns the holder of a signed address. Throws `forbidden` if it is not or no longer valid. */
export async function authenticateAddress(
  { settings }: AuthenticationContext,
  { query }: Pick<Request, 'query'>,
): Promise<Identity> {
  const text = new URLSearchParams(query).get(ADDRESS_PARAMETER) ?? ''
  const secret = await openInstanceSecret(settings.data.dir)
  const address = readAddress(secret, text, Date.now())
  if (address === undefined) {
    throw new Failure('forbidden', 'The address is not valid, or is no longer valid.')
  }
  return { kind: 'address', address }
}
