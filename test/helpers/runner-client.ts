/**
 * Client that speaks as each family of runners does, by what was recorded of them: chunked bodies,
 * empty messages without bytes, and their headers.
 */

import { request as send } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  create,
  type DescMessage,
  fromBinary,
  fromJson,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { hashToken, newToken } from '../../gateway/auth/token.js'
import type { Result, Task } from '../../gateway/runner-protocol/messages.js'
import {
  FETCH_TASK,
  type Procedure,
  REGISTER,
  UPDATE_LOG,
  UPDATE_TASK,
} from '../../gateway/runner-protocol/procedures.js'
import type { Database } from '../../sql/database/database.js'
import { createRegistrationToken } from '../../sql/runners/runners.js'
import type { RunnerScope } from '../../sql/runs/run-jobs.js'

export type RunnerFamily = 'gitea' | 'forgejo'

const AGENTS: Readonly<Record<RunnerFamily, string>> = {
  gitea: 'gitea-runner/3.1.0',
  forgejo: 'connect-go/1.19.1 (go1.26.0)',
}

/** Answer to a call: the message, or the code of the error. */
export interface ProcedureAnswer<O extends DescMessage> {
  readonly status: number
  readonly code: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  /** Throws if the call failed. */
  readonly message: MessageShape<O>
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface RegisteredRunner {
  readonly uuid: string
  readonly token: string
  call<I extends DescMessage, O extends DescMessage>(
    procedure: Procedure<I, O>,
    message: MessageInitShape<I>,
    options?: CallOptions,
  ): Promise<ProcedureAnswer<O>>
  /** Polls until there is a task. */
  fetchTask(): Promise<Task>
  /** Polls until there is a task; returns undefined when the signal is aborted. */
  fetchTask(signal: AbortSignal): Promise<Task | undefined>
  /** Sends rows from an index on; returns the acknowledged index. */
  sendRows(
    taskId: bigint,
    index: number,
    rows: readonly string[],
    isLast?: boolean,
  ): Promise<number>
  /** Reports a result, or a heartbeat with result 0; returns the result that the server answers. */
  report(
    taskId: bigint,
    result: Result,
    outputs?: Readonly<Record<string, string>>,
  ): Promise<Result | undefined>
}

/** Calls a procedure without credentials. */
export async function callProcedure<I extends DescMessage, O extends DescMessage>(
  port: number,
  { path, input, output }: Procedure<I, O>,
  message: MessageInitShape<I>,
  { headers = {}, signal, family = 'gitea' }: CallOptions & { readonly family?: RunnerFamily } = {},
): Promise<ProcedureAnswer<O>> {
  const answer = await sendChunked(port, `/api/actions${path}`, {
    body: toBinary(input, create(input, message)),
    signal,
    headers: {
      'content-type': 'application/proto',
      'connect-protocol-version': '1',
      'accept-encoding': 'gzip',
      'user-agent': AGENTS[family],
      ...headers,
    },
  })
  const { status, bytes } = answer
  const error = status === 200 ? undefined : JSON.parse(bytes.toString() || '{}')
  return {
    status,
    code: error?.code,
    headers: answer.headers,
    get message() {
      if (error !== undefined) throw new Error(`${path}: ${status} ${bytes}`)
      return answer.headers['content-type'] === 'application/json'
        ? fromJson(output, JSON.parse(bytes.toString()))
        : fromBinary(output, bytes)
    },
  }
}

interface Sent {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
}

/** Sends a body in chunks, without a length; an empty one is the last chunk alone. */
function sendChunked(
  port: number,
  path: string,
  { body, headers, signal }: Sent,
): Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      ...(signal === undefined ? {} : { signal }),
    }
    const request = send(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0 } = response
        resolve({ status, headers: response.headers, bytes: Buffer.concat(chunks) })
      })
    })
    request.on('error', reject)
    if (body.length > 0) request.write(body)
    request.end()
  })
}

/** Inserts a registration token and returns it; by default, its runners take all jobs. */
export async function addRegistrationToken(
  db: Database,
  scope: Partial<RunnerScope> = {},
  isOnce = false,
): Promise<string> {
  const plain = newToken()
  await createRegistrationToken(db, {
    hash: hashToken(plain),
    ownerId: scope.ownerId,
    repositoryId: scope.repositoryId,
    isOnce,
    expiresAtMs: undefined,
  })
  return plain
}

export interface RegisterOptions {
  readonly port: number
  readonly db: Database
  readonly family?: RunnerFamily
  readonly labels?: readonly string[]
  readonly scope?: Partial<RunnerScope>
  readonly isEphemeral?: boolean
}

/** Registers a runner with a new registration token. */
export async function registerClient({
  port,
  db,
  family = 'gitea',
  labels = ['linux'],
  scope = {},
  isEphemeral = false,
}: RegisterOptions): Promise<RegisteredRunner> {
  const token = await addRegistrationToken(db, scope, true)
  const fields = { name: `${family} runner`, token, version: 'v1', ephemeral: isEphemeral }
  const isForgejo = family === 'forgejo'
  const register = { ...fields, labels: [...labels], agentLabels: isForgejo ? [...labels] : [] }
  const { message } = await callProcedure(port, REGISTER, register, { family })
  const { uuid = '', token: runnerToken = '' } = message.runner ?? {}
  return runnerOf({ port, family, uuid, token: runnerToken })
}

function runnerOf({
  port,
  family,
  uuid,
  token,
}: {
  readonly port: number
  readonly family: RunnerFamily
  readonly uuid: string
  readonly token: string
}): RegisteredRunner {
  const credentials = { 'x-runner-uuid': uuid, 'x-runner-token': token }
  const call: RegisteredRunner['call'] = (procedure, message, options = {}) =>
    callProcedure(port, procedure, message, {
      ...options,
      family,
      headers: { ...credentials, ...options.headers },
    })
  async function fetchTask(signal?: AbortSignal): Promise<Task | undefined> {
    while (signal?.aborted !== true) {
      const headers = { 'connect-timeout-ms': '4999' }
      const options = signal === undefined ? { headers } : { headers, signal }
      const answer = await call(FETCH_TASK, {}, options).catch((error: unknown) => {
        if (signal?.aborted !== true) throw error
        return undefined
      })
      if (answer?.message.task !== undefined) return answer.message.task
    }
    return undefined
  }
  return {
    uuid,
    token,
    call,
    fetchTask: fetchTask as RegisteredRunner['fetchTask'],
    async sendRows(taskId, index, rows, isLast = false) {
      const { message } = await whenAvailable(() =>
        call(UPDATE_LOG, {
          taskId,
          index: BigInt(index),
          rows: rows.map((content) => ({ time: timestampFromMs(Date.now()), content })),
          noMore: isLast,
        }),
      )
      return Number(message.ackIndex)
    },
    async report(taskId, result, outputs = {}) {
      const { message } = await whenAvailable(() =>
        call(UPDATE_TASK, { state: { id: taskId, result }, outputs }),
      )
      return message.state?.result
    },
  }
}

const TRIES_MAX = 50
const RETRY_MS = 200

/** Repeats a call while the answer is 503, as runners do; returns the last answer. */
async function whenAvailable<O extends DescMessage>(
  call: () => Promise<ProcedureAnswer<O>>,
): Promise<ProcedureAnswer<O>> {
  for (let tries = 1; ; tries += 1) {
    const answer = await call()
    if (answer.status !== 503 || tries === TRIES_MAX) return answer
    await sleep(RETRY_MS)
  }
}
