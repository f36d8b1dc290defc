/** HTTP requests of tests, and their credentials. */

import { Agent, type IncomingHttpHeaders, request as send } from 'node:http'

export interface RequestOptions {
  readonly method?: string
  /** Path and query, sent without normalisation. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly authorization?: string | undefined
  /** Body, sent as JSON; strings and bytes are sent unchanged. */
  readonly body?: unknown
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly bytes: Buffer
  /** Parsed body; undefined if it is empty or not JSON. */
  readonly json: unknown
}

/** Returns the Authorization header of a token. */
export function withToken(token: string): string {
  return `token ${token}`
}

/** Returns the Authorization header of a name and a password. */
export function withPassword(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}

// An unused connection is closed before the server does so after 10 s, which would cut a request.
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 5_000 })

/** Sends a request to a port of 127.0.0.1; returns the complete reply. */
export async function ask(port: number, request: RequestOptions): Promise<Answer> {
  const { method = 'GET', path, authorization, body } = request
  const isPlain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
  const sentBody = isPlain ? body : JSON.stringify(body)
  const isJson = sentBody !== undefined && !Buffer.isBuffer(sentBody)
  const headers: Record<string, string> = {
    ...(isJson ? { 'content-type': 'application/json' } : {}),
    ...(sentBody === undefined ? {} : { 'content-length': String(Buffer.byteLength(sentBody)) }),
    ...(authorization === undefined ? {} : { authorization }),
    ...request.headers,
  }
  return new Promise((resolve, reject) => {
    const sent = send({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const received = bytes.toString()
        const isJson = response.headers['content-type']?.startsWith('application/json') === true
        const json = isJson && received !== '' ? JSON.parse(received) : undefined
        const { statusCode: status = 0 } = response
        resolve({ status, headers: response.headers, text: received, bytes, json })
      })
    })
    sent.on('error', reject)
    sent.end(sentBody)
  })
}
