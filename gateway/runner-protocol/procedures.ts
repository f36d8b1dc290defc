/** Procedures of the runner protocol, which is Connect's unary protocol over HTTP POST. */

import type { DescMessage } from '@bufbuild/protobuf'
import {
  DeclareRequestSchema,
  DeclareResponseSchema,
  FetchTaskRequestSchema,
  FetchTaskResponseSchema,
  PingRequestSchema,
  PingResponseSchema,
  RegisterRequestSchema,
  RegisterResponseSchema,
  UpdateLogRequestSchema,
  UpdateLogResponseSchema,
  UpdateStepSummaryRequestSchema,
  UpdateStepSummaryResponseSchema,
  UpdateTaskRequestSchema,
  UpdateTaskResponseSchema,
} from './messages.js'

/** Path of all procedures, below the base URL. */
export const PROTOCOL_PATH = '/api/actions'

/** A procedure: its path below PROTOCOL_PATH, and the descriptors of its messages. */
export interface Procedure<I extends DescMessage, O extends DescMessage> {
  readonly path: `/${string}`
  readonly input: I
  readonly output: O
}

function defineProcedure<I extends DescMessage, O extends DescMessage>(
  path: Procedure<I, O>['path'],
  input: I,
  output: O,
): Procedure<I, O> {
  return { path, input, output }
}

const SERVICE = '/runner.v1.RunnerService'

export const PING = defineProcedure(
  '/ping.v1.PingService/Ping',
  PingRequestSchema,
  PingResponseSchema,
)
export const REGISTER = defineProcedure(
  `${SERVICE}/Register`,
  RegisterRequestSchema,
  RegisterResponseSchema,
)
export const DECLARE = defineProcedure(
  `${SERVICE}/Declare`,
  DeclareRequestSchema,
  DeclareResponseSchema,
)
export const FETCH_TASK = defineProcedure(
  `${SERVICE}/FetchTask`,
  FetchTaskRequestSchema,
  FetchTaskResponseSchema,
)
export const UPDATE_TASK = defineProcedure(
  `${SERVICE}/UpdateTask`,
  UpdateTaskRequestSchema,
  UpdateTaskResponseSchema,
)
export const UPDATE_LOG = defineProcedure(
  `${SERVICE}/UpdateLog`,
  UpdateLogRequestSchema,
  UpdateLogResponseSchema,
)

export const UPDATE_STEP_SUMMARY = defineProcedure(
  `${SERVICE}/UpdateStepSummary`,
  UpdateStepSummaryRequestSchema,
  UpdateStepSummaryResponseSchema,
)

/** Headers with which a runner authenticates, in lower case. */
export const UUID_HEADER = 'x-runner-uuid'
export const TOKEN_HEADER = 'x-runner-token'

/** HTTP status of each error code of Connect that this server sends. */
export const STATUS_OF_CODE = {
  canceled: 499,
  unknown: 500,
  invalid_argument: 400,
  deadline_exceeded: 504,
  not_found: 404,
  already_exists: 409,
  permission_denied: 403,
  resource_exhausted: 429,
  failed_precondition: 400,
  unimplemented: 501,
  internal: 500,
  unavailable: 503,
  unauthenticated: 401,
} as const

export type ConnectCode = keyof typeof STATUS_OF_CODE

const CODES: Readonly<Record<number, ConnectCode>> = {
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'already_exists',
  413: 'resource_exhausted',
  429: 'resource_exhausted',
  503: 'unavailable',
  507: 'unavailable',
}

/** Returns the code for the HTTP status of an error. Twirp and Connect have the same codes. */
export function codeOfStatus(status: number): ConnectCode {
  return CODES[status] ?? (status < 500 ? 'invalid_argument' : 'internal')
}
