/** Messages between the gateway and scripts/gatehouse-ssh.c: a length, and that many bytes. */

/** Version of the messages, raised with each change; helpers of other versions are refused. */
export const HELPER_VERSION = '2'

const HEAD_BYTES = 4
const MESSAGE_BYTES_MAX = 65_536

/** Returns a message: its length, and the fields with zero bytes between them. */
export function formatMessage(fields: readonly string[]): Buffer {
  if (fields.some((field) => field.includes('\0'))) throw new Error('a field contains a zero byte')
  const body = Buffer.from(fields.join('\0'))
  if (body.length > MESSAGE_BYTES_MAX) throw new Error('the message is too long')
  return Buffer.concat([messageHead(body.length), body])
}

/** Returns the header of a message: its length in big-endian order. */
export function messageHead(bytes: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head.writeUInt32BE(bytes)
  return head
}

export function fieldsOf(message: Buffer): readonly string[] {
  return message.toString().split('\0')
}

/** Returns the first message and the bytes behind it; undefined while it is incomplete. */
export function takeMessage(
  bytes: Buffer,
): { readonly message: Buffer; readonly rest: Buffer } | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const length = bytes.readUInt32BE()
  if (length > MESSAGE_BYTES_MAX) throw new Error('a message is too long')
  const end = HEAD_BYTES + length
  if (bytes.length < end) return undefined
  return { message: bytes.subarray(HEAD_BYTES, end), rest: bytes.subarray(end) }
}
