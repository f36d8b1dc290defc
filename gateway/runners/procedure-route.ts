/** Routes of the runner protocol: Connect's unary protocol over POST, in binary or JSON form. */

import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import {
  create,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf'
import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import { authenticateRunner } from '../auth/authenticate-runner.js'
import type { Grants } from '../auth/authorize.js'
import { readBody } from '../http/incoming-body.js'
import type { Context } from '../request/context.js'
import type { AnyRoute, Route, Surface } from '../request/route.js'
import {
  type ConnectCode,
  codeOfStatus,
  PROTOCOL_PATH,
  type Procedure,
  STATUS_OF_CODE,
} from '../runner-protocol/procedures.js'

const unzip = promisify(gunzip)

/** Surface of the runner protocol: errors are JSON objects with a code of Connect. */
export const RUNNER_SURFACE: Surface = {
  name: 'runners',
  challenges: false,
  authenticate: (context, request) => authenticateRunner(context.db, request),
  // Runners go by the code; the status is the one that every surface has for the error.
  refuse: (_context, failure) => ({
    ...refusal(codeOfStatus(failure.status), failure.message),
    status: failure.status,
  }),
}

/** Returns the reply for an error. */
export function refusal(code: ConnectCode, message: string): Reply {
  return {
    status: STATUS_OF_CODE[code],
    headers: [['Content-Type', 'application/json']],
    body: JSON.stringify({ code, message }),
    isRoutine: true,
  }
}

/** A call of a procedure. */
export interface ProcedureCall<I, K extends 'open' | 'runner'> {
  readonly message: I
  readonly grant: Grants[K]
  readonly request: Request
}

export interface ProcedureOptions<
  I extends DescMessage,
  O extends DescMessage,
  K extends 'open' | 'runner',
> {
  readonly access: K
  /** Maximum size of the message. */
  readonly bytesMax: number
  /** Headers of the answer. */
  readonly headers?: Reply['headers']
  readonly handle: (
    context: Context,
    call: ProcedureCall<MessageShape<I>, K>,
  ) => Promise<MessageInitShape<O>> | MessageInitShape<O>
}

/** Returns the route of a procedure. */
export function procedureRoute<
  I extends DescMessage,
  O extends DescMessage,
  K extends 'open' | 'runner',
>(
  { path, input, output }: Procedure<I, O>,
  { access, bytesMax, headers = [], handle }: ProcedureOptions<I, O, K>,
): AnyRoute {
  const route = {
    surface: RUNNER_SURFACE,
    method: 'POST',
    path: PROTOCOL_PATH + path,
    access: { kind: access },
    scopes: [],
    async handle(context: Context, { request, grant }: { request: Request; grant: Grants[K] }) {
      const type = request.headers.get('content-type')?.split(';')[0]?.trim() ?? ''
      const isJson = type === 'application/json'
      if (!isJson && type !== 'application/proto') {
        throw new Failure('unsupported_media_type', `The content type '${type}' is not supported.`)
      }
      const bytes = await readMessage(request, bytesMax)
      const message = decode(input, bytes, isJson)
      const answer = create(output, await handle(context, { message, grant, request }))
      return {
        status: 200,
        headers: [['Content-Type', type], ...headers],
        body: isJson ? toJsonString(output, answer) : toBinary(output, answer),
        isRoutine: true,
      } satisfies Reply
    },
  }
  return route as unknown as Route<'open'> | Route<'runner'>
}

async function readMessage(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const body = await readBody(request.body, bytesMax, declared)
  if (request.headers.get('content-encoding') !== 'gzip') return body
  try {
    return await unzip(body, { maxOutputLength: bytesMax })
  } catch (cause) {
    const message = `The body is not valid gzip, or has more than ${bytesMax} bytes.`
    throw new Failure('bad_request', message, { cause })
  }
}

function decode<I extends DescMessage>(
  input: I,
  bytes: Uint8Array,
  isJson: boolean,
): MessageShape<I> {
  try {
    if (isJson) return fromJsonString(input, Buffer.from(bytes).toString() || '{}')
    return fromBinary(input, bytes)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Failure('bad_request', `The message is malformed: ${reason}.`, { cause })
  }
}
