/**
 * Stub of a server of runners. It is a stub because the tests need faults and cancellations at
 * chosen calls; messages, acknowledgements and git's http-backend are the real ones.
 */

import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  create,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import {
  Result,
  type Task,
  TaskSchema,
  type UpdateTaskRequest,
} from '../../gateway/runner-protocol/messages.js'
import {
  type ConnectCode,
  DECLARE,
  FETCH_TASK,
  PING,
  type Procedure,
  REGISTER,
  STATUS_OF_CODE,
  UPDATE_LOG,
  UPDATE_STEP_SUMMARY,
  UPDATE_TASK,
} from '../../gateway/runner-protocol/procedures.js'

interface Teardown {
  teardown(action: () => unknown): void
}

export const STUB_CREDENTIALS = { uuid: 'uuid-1', token: 'runner-token-1' }
export const STUB_REGISTRATION_TOKEN = 'registration-1'

/** Path of the stub below its host: an address of a server may have one. */
const SUB_PATH = '/code'

export interface StubServer {
  /** Address, with a path. */
  readonly address: string
  /** Tasks that are fetched next. */
  readonly tasks: Task[]
  /** Contents of the rows of the log. */
  readonly rows: string[]
  /** True after the log was ended. */
  isLogClosed: boolean
  readonly updates: UpdateTaskRequest[]
  /** Summaries of steps by their numbers. */
  readonly summaries: Map<number, string>
  /** Procedures in the order of their calls, such as `FetchTask`. */
  readonly calls: string[]
  /** Credentials of Basic authentication that git has sent. */
  readonly gitCredentials: Set<string>
  /** Codes with which the next calls of a procedure are refused. */
  readonly refusals: Partial<Record<string, ConnectCode[]>>
  /** Number of rows that are acknowledged of each call; by default all. */
  acknowledgedMax: number
  /** Called with the rows so far after each UpdateLog. */
  onRows: (rows: readonly string[]) => void
  /** Cancels the task: the next heartbeat is answered so. */
  isCancelled: boolean
}

export interface StubOptions {
  /** Folder with bare repositories as OWNER/NAME.git. */
  readonly repositories?: string
}

/** Starts the stub on a free port. */
export async function stubRunnerServer(
  t: Teardown,
  options: StubOptions = {},
): Promise<StubServer> {
  const http = createServer((request, response) => {
    void answer(stub, { request, response, ...options }).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    http.closeAllConnections()
    return new Promise((resolve) => http.close(resolve))
  })
  const stub: StubServer = {
    address: `http://127.0.0.1:${(http.address() as AddressInfo).port}${SUB_PATH}`,
    tasks: [],
    rows: [],
    isLogClosed: false,
    updates: [],
    summaries: new Map(),
    calls: [],
    gitCredentials: new Set(),
    refusals: {},
    acknowledgedMax: Number.POSITIVE_INFINITY,
    onRows: () => {},
    isCancelled: false,
  }
  return stub
}

export interface TaskInput {
  readonly id?: number
  readonly context?: JsonObject
  readonly secrets?: Readonly<Record<string, string>>
  readonly vars?: Readonly<Record<string, string>>
  readonly needs?: Readonly<Record<string, { outputs: Record<string, string>; result: Result }>>
}

/** Returns a task whose workflow file is the text. */
export function aTask(workflow: string, { id = 7, context, secrets, vars, needs }: TaskInput = {}) {
  return create(TaskSchema, {
    id: BigInt(id),
    workflowPayload: Buffer.from(workflow),
    context: { repository: 'ada/tool', job: 'build', event: { after: 'x' }, ...context },
    secrets: { ...secrets },
    vars: { ...vars },
    needs: { ...needs },
  })
}

interface Exchange extends StubOptions {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

async function answer(stub: StubServer, exchange: Exchange): Promise<void> {
  const { request, response } = exchange
  const { pathname } = new URL(request.url ?? '', stub.address)
  if (pathname.includes('.git/')) return answerGit(stub, exchange)
  const procedure = PROCEDURES.find(({ path }) => pathname === `${SUB_PATH}/api/actions${path}`)
  if (procedure === undefined) {
    response.writeHead(404).end('no procedure')
    return
  }
  const name = procedure.path.split('/').at(-1) ?? ''
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  stub.calls.push(name)
  const refusal = stub.refusals[name]?.shift() ?? refusalOf(name, request)
  if (refusal !== undefined) {
    response.writeHead(STATUS_OF_CODE[refusal], { 'content-type': 'application/json' })
    response.end(JSON.stringify({ code: refusal, message: `${name} was refused` }))
    return
  }
  response.writeHead(200, { 'content-type': 'application/proto' })
  response.end(procedure.answer(stub, Buffer.concat(chunks)))
}

function refusalOf(name: string, { headers }: IncomingMessage): ConnectCode | undefined {
  if (name === 'Ping' || name === 'Register') return undefined
  const { uuid, token } = STUB_CREDENTIALS
  const isKnown = headers['x-runner-uuid'] === uuid && headers['x-runner-token'] === token
  return isKnown ? undefined : 'unauthenticated'
}

interface AnsweredProcedure {
  readonly path: string
  answer(stub: StubServer, body: Uint8Array): Uint8Array
}

function answered<I extends DescMessage, O extends DescMessage>(
  { path, input, output }: Procedure<I, O>,
  handle: (stub: StubServer, input: MessageShape<I>) => MessageInitShape<O>,
): AnsweredProcedure {
  return {
    path,
    answer: (stub, body) => toBinary(output, create(output, handle(stub, fromBinary(input, body)))),
  }
}

const PROCEDURES: readonly AnsweredProcedure[] = [
  answered(PING, (_stub, { data }) => ({ data: `Hello, ${data}!` })),
  answered(REGISTER, (_stub, { name, token, labels }) => {
    if (token !== STUB_REGISTRATION_TOKEN) throw new Error('wrong registration token')
    return { runner: { ...STUB_CREDENTIALS, name, labels } }
  }),
  answered(DECLARE, (_stub, { labels }) => ({ runner: { labels } })),
  answered(FETCH_TASK, (stub) => ({
    ...taskOf(stub),
    tasksVersion: 1n,
  })),
  answered(UPDATE_LOG, (stub, { index, rows, noMore }) => {
    const known = stub.rows.length - Number(index)
    if (known >= 0) {
      const added = rows.slice(known).slice(0, stub.acknowledgedMax)
      stub.rows.push(...added.map(({ content }) => content))
    }
    if (noMore && stub.rows.length === Number(index) + rows.length) stub.isLogClosed = true
    stub.onRows(stub.rows)
    return { ackIndex: BigInt(stub.rows.length) }
  }),
  answered(UPDATE_STEP_SUMMARY, (stub, { summaries }) => {
    for (const { stepNumber, content } of summaries) stub.summaries.set(Number(stepNumber), content)
    return {}
  }),
  answered(UPDATE_TASK, (stub, update) => {
    stub.updates.push(update)
    const result = stub.isCancelled ? Result.CANCELLED : Result.UNSPECIFIED
    return { state: { result }, sentOutputs: Object.keys(update.outputs) }
  }),
]

function taskOf({ tasks }: StubServer): { task?: Task } {
  const task = tasks.shift()
  return task === undefined ? {} : { task }
}

/** Answers git by its http-backend, and notes the credentials. */
async function answerGit(
  stub: StubServer,
  { request, response, repositories }: Exchange,
): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '', stub.address)
  const { authorization } = request.headers
  if (authorization === undefined) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="stub"' }).end()
    return
  }
  const [, encoded = ''] = authorization.split(' ')
  stub.gitCredentials.add(Buffer.from(encoded, 'base64').toString())
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_PROJECT_ROOT: repositories ?? '',
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? '',
      PATH_INFO: pathname.slice(SUB_PATH.length),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  request.pipe(backend.stdin)
  const chunks: Buffer[] = []
  for await (const chunk of backend.stdout) chunks.push(chunk)
  const output = Buffer.concat(chunks)
  const end = output.indexOf('\r\n\r\n')
  const headers = output.subarray(0, end).toString().split('\r\n')
  for (const header of headers) {
    const [name = '', value = ''] = header.split(': ')
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.end(output.subarray(end + 4))
}
