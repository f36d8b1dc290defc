/** Fetch requests of protocol v2, and a parser of their replies. */

import { readFile, writeFile } from 'node:fs/promises'
import { type IncomingHttpHeaders, request as send } from 'node:http'
import { join } from 'node:path'
import { git } from './git-client.js'

/** POST request to git-upload-pack. */
export interface FetchPost {
  readonly port: number
  /** Path of the repository, as `/owner/name.git`. */
  readonly path: string
  readonly authorization?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface FetchReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Sends the request on a new connection; returns the complete reply. */
export function postFetch({ port, path, authorization, body, ...more }: FetchPost) {
  const headers = {
    'content-type': 'application/x-git-upload-pack-request',
    'content-length': String(body.byteLength),
    'git-protocol': 'version=2',
    ...(authorization === undefined ? {} : { authorization }),
    ...more.headers,
  }
  const options = { host: '127.0.0.1', port, method: 'POST', headers, agent: false as const }
  return new Promise<FetchReply>((resolve, reject) => {
    const sent = send({ ...options, path: `${path}/git-upload-pack` }, (got) => {
      const chunks: Buffer[] = []
      got.on('data', (chunk: Buffer) => chunks.push(chunk))
      got.on('error', reject)
      got.on('end', () => {
        const { statusCode: status = 0, headers } = got
        resolve({ status, headers, body: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Parsed reply (gitprotocol-v2(5) "fetch"): the lines before the pack, and the pack itself. */
export interface FetchAnswer {
  readonly lines: readonly string[]
  readonly pack: Buffer
  /** True if the reply ends with a flush-pkt. */
  readonly isWhole: boolean
}

/** Parses a reply of protocol v0 with side bands (gitprotocol-pack(5) "Packfile Data"). */
export function readAnswerV0(answer: Buffer): FetchAnswer {
  const lines: string[] = []
  const pack: Buffer[] = []
  let isFlushed = false
  for (let at = 0; at < answer.length; ) {
    const length = Number.parseInt(answer.toString('latin1', at, at + 4), 16)
    const content = answer.subarray(at + 4, at + Math.max(length, 4))
    const [band = 0] = content
    at += Math.max(length, 4)
    isFlushed = length === 0
    if (band === 1) pack.push(content.subarray(1))
    else if (band > 3) lines.push(content.toString('latin1').trimEnd())
  }
  return { lines, pack: Buffer.concat(pack), isWhole: pack.length === 0 || isFlushed }
}

export function readFetchAnswer(answer: Buffer): FetchAnswer {
  const lines: string[] = []
  const pack: Buffer[] = []
  let isPack = false
  for (let at = 0; at < answer.length; ) {
    const length = Number.parseInt(answer.toString('latin1', at, at + 4), 16)
    if (length === 0) return { lines, pack: Buffer.concat(pack), isWhole: at + 4 === answer.length }
    const content = answer.subarray(at + 4, at + length)
    at += Math.max(length, 4)
    if (isPack && content[0] === 1) pack.push(content.subarray(1))
    else if (!isPack && length > 4) lines.push(content.toString('latin1').trimEnd())
    if (lines.at(-1) === 'packfile') isPack = true
  }
  return { lines, pack: Buffer.concat(pack), isWhole: false }
}

/**
 * Returns the sorted ids of all objects of a pack. `bases` is a repository with the objects that
 * deltas of a thin pack refer to. Throws if git does not accept the pack.
 */
export async function objectsOf(
  pack: Buffer,
  folder: string,
  bases?: string,
): Promise<readonly string[]> {
  const path = join(folder, `${process.hrtime.bigint()}.pack`)
  if (bases === undefined) {
    await writeFile(path, pack)
    await git(['index-pack', path], { cwd: folder })
  } else {
    await git(['index-pack', '--fix-thin', '--stdin', path], { cwd: bases, input: pack })
  }
  const entries = entriesOf(await readFile(path.replace(/pack$/, 'idx')))
  // Git appends the bases of a thin pack to it.
  const byOffset = entries.toSorted((one, other) => one.offset - other.offset)
  const own = byOffset.slice(0, pack.readUInt32BE(PACK_COUNT_OFFSET))
  return own.map(({ oid }) => oid).sort()
}

/** Bytes of the head and the fan-out table of an index of version 2 (gitformat-pack(5)). */
const INDEX_HEAD_BYTES = 8 + 256 * 4

/** Returns the objects of a pack of less than 2 GiB, from its index. */
function entriesOf(
  index: Buffer,
): ReadonlyArray<{ readonly oid: string; readonly offset: number }> {
  const count = index.readUInt32BE(INDEX_HEAD_BYTES - 4)
  // Each object has its id, a checksum and its offset. The checksums of both files follow.
  const oidBytes = (index.length - INDEX_HEAD_BYTES - count * 8) / (count + 2)
  const offsets = INDEX_HEAD_BYTES + count * (oidBytes + 4)
  return Array.from({ length: count }, (_, at) => ({
    oid: index.toString(
      'hex',
      INDEX_HEAD_BYTES + at * oidBytes,
      INDEX_HEAD_BYTES + (at + 1) * oidBytes,
    ),
    offset: index.readUInt32BE(offsets + at * 4),
  }))
}

/**
 * Returns true for an answer that the gateway made of a stored one and of new objects: the checksum
 * of its pack has a packet of its own. The last packet of git has one byte.
 */
export function isExtended(answer: Buffer): boolean {
  return [20, 32].some((bytes) => {
    const head = (bytes + 5).toString(16).padStart(4, '0')
    const at = answer.length - bytes - 9
    return answer.toString('latin1', at, at + 5) === `${head}\u0001`
  })
}

/**
 * Returns true if a complete pack has deltas that name their base by its position. Those that name
 * it by its id contain the id (gitformat-pack(5)).
 */
export async function hasOffsetDeltas(pack: Buffer, folder: string): Promise<boolean> {
  const path = join(folder, `${process.hrtime.bigint()}.pack`)
  await writeFile(path, pack)
  await git(['index-pack', path], { cwd: folder })
  const listed = await git(['verify-pack', '--verbose', path], { cwd: folder })
  const bases = [...listed.matchAll(/^[0-9a-f]{40} .* ([0-9a-f]{40})$/gm)]
  return bases.some(([, base = '']) => !pack.includes(Buffer.from(base, 'hex')))
}

/** Position of the number of objects in a pack (gitformat-pack(5)). */
const PACK_COUNT_OFFSET = 8

/** True for git's reply that an object is not sent. */
export function isRefusal(answer: Buffer): boolean {
  return /^[0-9a-f]{4}ERR upload-pack: not our ref/.test(answer.toString('latin1', 0, 100))
}

/** True for the line that ends a negotiation. */
export function isReady(line: string): boolean {
  return /^(?:ready|ACK [0-9a-f]+ ready)$/.test(line)
}

/** True for a line that acknowledges commits. */
export function isAcknowledgment(line: string): boolean {
  return /^(?:ACK |acknowledgments$)/.test(line)
}

/** True for the lines of a reply that do not depend on which commits are common. */
export function isKept(line: string): boolean {
  return !isReady(line) && !isAcknowledgment(line) && line !== 'NAK' && line !== 'packfile'
}
