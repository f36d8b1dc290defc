/** The messages between the gateway and scripts/gatehouse-ssh.c: a length, and fields. */

/** Raised with every change of the messages; a helper of another version is told to go. */
export const HELPER_VERSION = '1'

const HEAD_BYTES = 4
const MESSAGE_BYTES_MAX = 65_536

/** A message: its length in four bytes, and its fields with a zero byte between each two. */
export function formatMessage(fields: readonly string[]): Buffer {
  if (fields.some((field) => field.includes('\0'))) throw new Error('a field holds a zero byte')
  const body = Buffer.from(fields.join('\0'))
  if (body.length > MESSAGE_BYTES_MAX) throw new Error('the message is too long')
  const message = Buffer.allocUnsafe(HEAD_BYTES + body.length)
  message.writeUInt32BE(body.length)
  message.set(body, HEAD_BYTES)
  return message
}

/** The first message of some bytes and what follows it; undefined while it is not all there. */
export function takeMessage(
  bytes: Buffer,
): { readonly fields: readonly string[]; readonly rest: Buffer } | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const length = bytes.readUInt32BE()
  if (length > MESSAGE_BYTES_MAX) throw new Error('a message is too long')
  const end = HEAD_BYTES + length
  if (bytes.length < end) return undefined
  const fields = bytes.subarray(HEAD_BYTES, end).toString().split('\0')
  return { fields, rest: bytes.subarray(end) }
}
