/** Surfaces for the tools of jobs: errors are JSON objects in the form of Twirp. */

import type { Failure } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import { authenticateAddress, authenticateTask } from '../auth/authenticate-task.js'
import type { Surface } from '../request/route.js'
import { codeOfStatus } from '../runner-protocol/procedures.js'

/** Surface of calls with a runtime token. */
export const TASK_SURFACE: Surface = {
  name: 'artifacts',
  challenges: false,
  authenticate: authenticateTask,
  refuse: (_context, failure) => refuse(failure),
}

/** Surface of signed addresses. */
export const ADDRESS_SURFACE: Surface = { ...TASK_SURFACE, authenticate: authenticateAddress }

function refuse({ status, message }: Failure): Reply {
  return jsonReply(status, { code: codeOfStatus(status), msg: message, message })
}

/** Returns a JSON reply. */
export function jsonReply(status: number, value: unknown): Reply {
  const headers = [['Content-Type', 'application/json']] as const
  return { status, headers, body: JSON.stringify(value) }
}
