/** Inspection of the beginning of a push's request, before git gets it. */

import { type PushedChange, parseChanges } from '../../cgi/refs/pushed-changes.js'
import { beginWith, readOnce } from '../../conf/lib/chunks.js'
import { isReferenceName } from '../../conf/names.js'

export interface PeekedPush {
  /** False also if the request does not begin as git's clients begin one. */
  readonly hasOneRef: boolean
  /**
   * The requested change of a push of one ref. Undefined for a name that git refuses, and for a
   * client that gets no report of git, or gets it without side-band-64k.
   */
  readonly change: PushedChange | undefined
  /** Position of the pack in a request for one change, unless push options are before it. */
  readonly packStart: number
  /** The whole request. */
  readonly body: AsyncIterable<Uint8Array>
}

const LENGTH_BYTES = 4
const COMMAND = /^[0-9a-f]{40,64} [0-9a-f]{40,64} refs\//

/**
 * Reads whether a push names at most one ref. In that case, a flush packet follows the first line
 * (gitprotocol-pack(5), "Reference Update Request").
 */
export async function peekPush(body: AsyncIterable<Uint8Array>): Promise<PeekedPush> {
  const chunks = body[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let wanted = LENGTH_BYTES
  let isEnded = false
  while (head.length < wanted && !isEnded) {
    const { value, done } = await chunks.next()
    if (done) isEnded = true
    else head = Buffer.concat([head, value])
    if (head.length >= LENGTH_BYTES) wanted = lengthAt(head, 0) + LENGTH_BYTES
  }
  const first = lengthAt(head, 0)
  const command = head.subarray(LENGTH_BYTES, first)
  const isCommand = COMMAND.test(command.toString('latin1'))
  const hasOneRef =
    first === 0 || (isCommand && head.length >= wanted && lengthAt(head, first) === 0)
  const next = beginWith({ done: false, value: head }, () => chunks.next())
  const change = hasOneRef && isCommand ? parseCommand(command) : undefined
  const whole = readOnce(next, () => chunks.return?.())
  return { hasOneRef, change, packStart: first + LENGTH_BYTES, body: whole }
}

const REPORTED = /(?=.* report-status\b)(?=.* side-band-64k\b)/

function parseCommand(command: Buffer): PushedChange | undefined {
  const [line = '', capabilities = ''] = command.toString().split('\0')
  if (!REPORTED.test(` ${capabilities}`)) return undefined
  const [change] = parseChanges([line])
  const isSafe = change !== undefined && !change.name.includes('\ufffd')
  return isSafe && isReferenceName(change.name.slice('refs/'.length)) ? change : undefined
}

/** Returns the length of the packet that begins there; 0 for a flush packet. */
function lengthAt(bytes: Buffer, start: number): number {
  const digits = bytes.toString('latin1', start, start + LENGTH_BYTES)
  return /^[0-9a-f]{4}$/.test(digits) ? Number.parseInt(digits, 16) : LENGTH_BYTES
}
