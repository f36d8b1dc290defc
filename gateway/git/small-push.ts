/** Small pushes to one branch, which the gateway applies and reports as git does. */

import { type BranchMove, tryToMoveBranch } from '../../cgi/refs/move-branch.js'
import type { PushedChange } from '../../cgi/refs/pushed-changes.js'
import { PUSH_HEADERS } from '../../cgi/transfer/backend.js'
import { takeSmallPack } from '../../cgi/transfer/small-push.js'
import type { Reply, Request } from '../../conf/http.js'
import type { OpenPush } from '../actions/code/open-push.js'
import { packetLine } from '../packs/pkt-line.js'
import type { Context } from '../request/context.js'
import type { PeekedPush } from './peek-push.js'

/** Maximum size of a request that is held in memory. */
const REQUEST_BYTES_MAX = 262_144

/** Signature of a pack, and version 2 or 3 (gitformat-pack(5)). */
const PACK_HEAD = /^PACK\0\0\0[\u0002\u0003]/
const PACK_HEAD_BYTES = 8

/** A push whose request is in memory. */
export interface HeldPush {
  readonly move: BranchMove
  readonly pack: Uint8Array
  /** The whole request, which can be read repeatedly. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Reads the request of a push that may be small: with its length, for the move of an existing
 * branch. Returns undefined, with nothing read, for all others.
 */
export async function holdSmallPush(
  { settings }: Context,
  { headers }: Pick<Request, 'headers'>,
  { change, packStart, body }: PeekedPush,
): Promise<HeldPush | undefined> {
  const move = moveOf(change)
  const bytesMax = Math.min(REQUEST_BYTES_MAX, settings.git.pushBytesMax)
  const length = headers.get('content-length') ?? ''
  if (move === undefined || !/^\d{1,9}$/.test(length) || Number(length) > bytesMax) return undefined
  const whole = await readWhole(body)
  return { move, pack: whole.subarray(packStart), body: bodyOf(whole) }
}

/** A push whose rules were read. */
export interface PermittedPush {
  readonly held: HeldPush
  readonly path: string
  /** A push for which no hook must be run. */
  readonly push: OpenPush
  readonly signal: AbortSignal
}

/**
 * Applies a push with one process of git, which checks and indexes the pack. Returns false if
 * nothing was changed and `git receive-pack` must decide, as `takeSmallPack` and `tryToMoveBranch`.
 */
export async function applySmallPush(
  { git, settings }: Context,
  { held: { move, pack }, path, push, signal }: PermittedPush,
): Promise<boolean> {
  const head = Buffer.from(pack.subarray(0, PACK_HEAD_BYTES)).toString('latin1')
  if (!PACK_HEAD.test(head)) return false
  const { before, after } = move
  const { timeoutMs } = settings.git
  await push.begin(process.pid)
  let isUnchanged = true
  try {
    if (!(await takeSmallPack(git, path, { before, after, pack, signal, timeoutMs }))) return false
    // If flushing the moved ref fails, the entry stays until recovery finds the ref moved.
    isUnchanged = false
    isUnchanged = !(await tryToMoveBranch(path, move))
    return !isUnchanged
  } finally {
    if (isUnchanged) await push.withdraw()
  }
}

/** Returns git's reply to a push of one ref that was applied. */
export function appliedReply(name: string): Reply {
  const report = `${packetLine('unpack ok\n')}${packetLine(`ok ${name}\n`)}0000`
  return { status: 200, headers: PUSH_HEADERS, body: `${packetLine(`\u0001${report}`)}0000` }
}

/** Returns the move of a branch; undefined for other changes, and for names that are not ASCII. */
function moveOf(change: PushedChange | undefined): BranchMove | undefined {
  const { name = '', before, after } = change ?? {}
  if (before === undefined || after === undefined) return undefined
  return /^refs\/heads\/[\u0021-\u007e]+$/.test(name) ? { name, before, after } : undefined
}

async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = []
  // Copies, because the memory of a chunk may be reused.
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function bodyOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
  }
}
