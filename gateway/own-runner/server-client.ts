/** Client of the runner protocol. The only module of the runner that sends requests. */

import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import {
  type ConnectCode,
  PROTOCOL_PATH,
  type Procedure,
  STATUS_OF_CODE,
  TOKEN_HEADER,
  UUID_HEADER,
} from '../runner-protocol/procedures.js'

/** Credentials of a registered runner. */
export interface Credentials {
  readonly uuid: string
  readonly token: string
}

/** Error of a call. An answer that is not of the protocol, or none, is `unavailable`. */
export class ConnectError extends Error {
  readonly code: ConnectCode

  constructor(code: ConnectCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** True if a repetition of the call has the same result. */
  get isFinal(): boolean {
    return FINAL_CODES.has(this.code)
  }
}

const FINAL_CODES: ReadonlySet<ConnectCode> = new Set([
  'invalid_argument',
  'not_found',
  'already_exists',
  'permission_denied',
  'failed_precondition',
  'unauthenticated',
])

/** Options of a call. */
export interface CallOptions {
  readonly signal?: AbortSignal
  /** Time for which the server may hold the call, in milliseconds. */
  readonly holdMs?: number
}

/** Server of a runner. */
export interface ServerClient {
  /** Calls a procedure. Throws ConnectError. */
  call<I extends DescMessage, O extends DescMessage>(
    procedure: Procedure<I, O>,
    input: MessageInitShape<I>,
    options?: CallOptions,
  ): Promise<MessageShape<O>>
}

/** Maximum time of a call, in addition to the time for which the server may hold it. */
const CALL_WITHIN_MS = 15_000

/** Maximum number of bytes of an answer: a task has at most 50 MiB of outputs of earlier jobs. */
const ANSWER_BYTES_MAX = 67_108_864

/** Returns a client of the server at an address, which may have a path. */
export function createServerClient(instance: string, credentials?: Credentials): ServerClient {
  const base = `${instance.replace(/\/+$/, '')}${PROTOCOL_PATH}`
  const identity =
    credentials === undefined
      ? {}
      : { [UUID_HEADER]: credentials.uuid, [TOKEN_HEADER]: credentials.token }
  return {
    async call(procedure, input, { signal, holdMs } = {}) {
      const timeout = AbortSignal.timeout(CALL_WITHIN_MS + (holdMs ?? 0))
      const request: RequestInit = {
        method: 'POST',
        headers: {
          'content-type': 'application/proto',
          'connect-protocol-version': '1',
          ...(holdMs === undefined ? {} : { 'connect-timeout-ms': String(holdMs) }),
          ...identity,
        },
        body: toBinary(procedure.input, create(procedure.input, input)),
        redirect: 'error',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      }
      try {
        const answer = await fetch(`${base}${procedure.path}`, request)
        const body = await readBody(answer)
        if (!answer.ok) throw errorOf(answer, body)
        if (answer.headers.get('content-type') !== 'application/proto') {
          throw new ConnectError('unavailable', 'the answer is not of the protocol of runners')
        }
        return fromBinary(procedure.output, body)
      } catch (error) {
        if (error instanceof ConnectError) throw error
        throw new ConnectError('unavailable', reasonOf(error), { cause: error })
      }
    },
  }
}

async function readBody(answer: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of answer.body ?? []) {
    sizeBytes += chunk.length
    if (sizeBytes > ANSWER_BYTES_MAX) {
      throw new ConnectError('unavailable', `the answer is longer than ${ANSWER_BYTES_MAX} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Returns the error of an answer. A proxy's 401 is no verdict of the server, so not final. */
function errorOf(answer: Response, body: Buffer): ConnectError {
  const text = body.toString()
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown }
    if (typeof code === 'string' && Object.hasOwn(STATUS_OF_CODE, code)) {
      return new ConnectError(code as ConnectCode, String(message ?? code))
    }
  } catch {
    // Not JSON: the answer of a proxy, or of another server.
  }
  return new ConnectError('unavailable', `the server answered with status ${answer.status}`)
}

/** Returns the reason of a failed request; the message of fetch is always "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
