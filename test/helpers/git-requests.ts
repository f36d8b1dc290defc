/** Git's requests written by hand (gitprotocol-pack(5)): for clients that misbehave. */

import { randomInt } from 'node:crypto'
import { connectTo } from './raw-http.js'

/** One line of git's protocol: its length, then its text. */
export function packetLine(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`
}

export interface GitRequest {
  readonly service: 'git-upload-pack' | 'git-receive-pack'
  readonly token: string
  /** Below the root; by default the one repository of most tests. */
  readonly path?: string
  /** Absent for a chunked body. */
  readonly bodyBytes?: number
  /** Further header lines, each with its end. */
  readonly headers?: string
}

/** The head of a request to a git service. */
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

/** Asks for a commit with all its history, in protocol version 2; or for less, by further lines. */
export function fetchBody(commit: string, ...more: readonly string[]): Buffer {
  const lines = ['command=fetch', 'object-format=sha1']
  const args = ['no-progress\n', ...more.map((line) => `${line}\n`), `want ${commit}\n`, 'done\n']
  return Buffer.from(`${lines.map(packetLine).join('')}0001${args.map(packetLine).join('')}0000`)
}

/** A fetch whose client leaves; by default of the one repository of most tests. */
export interface AbortedFetch {
  readonly port: number
  readonly token: string
  readonly body: Buffer
  /** It leaves after some bytes below that; the answer is to be longer. */
  readonly bytesMax: number
  /** One in four leaves after some time below that, if that is sooner. */
  readonly msMax: number
}

/** Who waits for bytes is not kept for ever by a server that refuses it. */
const LEAVES_WITHIN_MS = 60_000

/** Asks, and leaves after some of the answer or before its first byte. */
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
 * Two clients that leave and that ask for an answer nobody has asked for yet: the first leads, and
 * the other joins it. No object is as large as the number: it makes the request another one.
 */
export async function abortPair(
  { commit, number }: { readonly commit: string; readonly number: number },
  rest: Omit<AbortedFetch, 'body'>,
): Promise<void> {
  const body = pairBody(commit, number)
  await Promise.all([abortFetch({ ...rest, body }), abortFetch({ ...rest, body })])
}

/** What such a pair asks for: the commit without its history. */
export function pairBody(commit: string, number: number): Buffer {
  return fetchBody(commit, 'deepen 1', `filter blob:limit=${1_000_000_000 + number}`)
}

/** What comes before the pack: makes a reference that does not exist yet. */
export function pushHead(commit: string, ref: string): Buffer {
  const command = `${'0'.repeat(40)} ${commit} ${ref}\0 report-status\n`
  return Buffer.from(`${packetLine(command)}0000`)
}
