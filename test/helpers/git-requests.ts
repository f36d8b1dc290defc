/** Raw requests of the Git protocol (gitprotocol-pack(5)), for misbehaving clients. */

import { randomInt } from 'node:crypto'
import { connectTo } from './raw-http.js'

/** Returns a pkt-line: the length, then the text. */
export function packetLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`
}

export interface GitRequest {
  readonly service: 'git-upload-pack' | 'git-receive-pack'
  readonly token: string
  /** Path of the repository; by default `ada/library.git`. */
  readonly path?: string
  /** Content-Length; the body is chunked if it is absent. */
  readonly bodyBytes?: number
  /** Further header lines, each with its line end. */
  readonly headers?: string
}

/** Returns the HTTP head of a request to a git service. */
export function gitRequest(request: GitRequest): string {
  const { service, token, path = 'ada/library.git', bodyBytes, headers = '' } = request
  const length =
    bodyBytes === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${bodyBytes}`
  return (
    `POST /${path}/${service} HTTP/1.1\r\nHost: gatehouse.example\r\n` +
    `Authorization: token ${token}\r\nContent-Type: application/x-${service}-request\r\n` +
    `${service === 'git-upload-pack' ? 'Git-Protocol: version=2\r\n' : ''}${length}\r\n${headers}\r\n`
  )
}

/** Returns a fetch of a commit in protocol version 2; `more` has lines that limit its history. */
export function fetchBody(commit: string, ...more: readonly string[]): Buffer {
  const lines = ['command=fetch', 'object-format=sha1']
  const args = ['no-progress\n', ...more.map((line) => `${line}\n`), `want ${commit}\n`, 'done\n']
  return Buffer.from(`${lines.map(packetLine).join('')}0001${args.map(packetLine).join('')}0000`)
}

/** Fetch from `ada/library.git` whose client disconnects early. */
export interface AbortedFetch {
  readonly port: number
  readonly token: string
  readonly body: Buffer
  /** Exclusive maximum of the bytes that the client reads; the reply must be longer. */
  readonly bytesMax: number
  /** Exclusive maximum of the time after which every fourth client disconnects, if sooner. */
  readonly msMax: number
}

/** Timeout after which the other clients disconnect, in case the server refuses the request. */
const LEAVES_WITHIN_MS = 60_000

/** Sends the fetch; disconnects after a random part of the reply, or before its first byte. */
export async function abortFetch(fetch: AbortedFetch): Promise<void> {
  const { port, token, body, bytesMax, msMax } = fetch
  const socket = await connectTo(port)
  socket.write(gitRequest({ service: 'git-upload-pack', token, bodyBytes: body.length }))
  socket.write(body)
  let bytesLeft = randomInt(bytesMax)
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      bytesLeft -= chunk.length
      if (bytesLeft <= 0) resolve()
    })
    socket.on('close', () => resolve())
    const isHasty = randomInt(4) === 0
    const timer = setTimeout(resolve, isHasty ? randomInt(msMax) : LEAVES_WITHIN_MS)
    socket.on('close', () => clearTimeout(timer))
  })
  socket.destroy()
}

/**
 * Runs two clients that send an equal request and disconnect: the first becomes the leader, and the
 * other is coalesced. The number makes the request unique; no object is as large as its filter.
 */
export async function abortPair(
  { commit, number }: { readonly commit: string; readonly number: number },
  rest: Omit<AbortedFetch, 'body'>,
): Promise<void> {
  const body = pairBody(commit, number)
  await Promise.all([abortFetch({ ...rest, body }), abortFetch({ ...rest, body })])
}

/** Returns the request of such a pair: the commit without its history. */
export function pairBody(commit: string, number: number): Buffer {
  return fetchBody(commit, 'deepen 1', `filter blob:limit=${1_000_000_000 + number}`)
}

/** Returns the part of a push before the pack: the command that creates a ref. */
export function pushHead(commit: string, ref: string): Buffer {
  const command = `${'0'.repeat(40)} ${commit} ${ref}\0 report-status\n`
  return Buffer.from(`${packetLine(command)}0000`)
}
