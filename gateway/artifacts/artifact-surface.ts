/** Surfaces for the tools of jobs: errors are JSON objects in the form of Twirp. */

import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import type { RunningTask } from '../../sql/runs/tasks.js'
import { authenticateAddress, authenticateTask } from '../auth/authenticate-task.js'
import { readBody } from '../http/incoming-body.js'
import type { Surface } from '../request/route.js'
import { codeOfStatus } from '../runner-protocol/procedures.js'

/** Path of the calls about a run, which follows as its id. */
export const PIPELINES = '/api/actions_pipeline/_apis/pipelines/workflows'

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

const MESSAGE_BYTES_MAX = 65_536

/** Reads a message in JSON of at most 64 KiB. */
export async function readMessage(request: Request): Promise<unknown> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const body = await readBody(request.body, MESSAGE_BYTES_MAX, declared)
  try {
    return JSON.parse(body.toString())
  } catch (cause) {
    throw new Failure('bad_request', 'The message is not JSON.', { cause })
  }
}

/** Throws `forbidden` if a call names another run than its token. */
export function refuseOtherRun(task: RunningTask, runId: string): void {
  if (runId === String(task.runId)) return
  throw new Failure('forbidden', 'The runtime token is of another run.')
}
