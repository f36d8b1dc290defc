/** Deltas of objects in packs (gitformat-pack(5), "Deltified representation"). */

/** A number and the offset after it. */
interface SizeAt {
  readonly size: number
  readonly end: number
}

/** Returns the size of the object that a delta makes. Throws an Error if the delta is damaged. */
export function resultSizeOf(delta: Buffer): number {
  return sizeAt(delta, sizeAt(delta, 0).end).size
}

/** Applies a delta to its base. Throws an Error if the two do not fit. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const { size: baseSize, end } = sizeAt(delta, 0)
  if (baseSize !== base.length) throw new Error('a delta has another base')
  const { size, end: start } = sizeAt(delta, end)
  const result = Buffer.allocUnsafeSlow(size)
  let written = 0
  let at = start
  while (at < delta.length) {
    const command = byteAt(delta, at)
    at += 1
    let source = delta
    let from = at
    let length = command
    if ((command & 0x80) === 0) {
      // A copy of the next bytes of the delta. A length of 0 is reserved.
      if (command === 0) throw new Error('a delta has an unknown command')
      at += length
    } else {
      source = base
      ;[from, at] = numberAt(delta, at, command & 0x0f)
      ;[length, at] = numberAt(delta, at, (command >> 4) & 0x07)
      if (length === 0) length = 0x1_0000
    }
    if (from + length > source.length || written + length > size) {
      throw new Error('a delta copies too much')
    }
    source.copy(result, written, from, from + length)
    written += length
  }
  if (written !== size) throw new Error('a delta makes too little')
  return result
}

/** Reads the bytes whose bits are set in `present`, the lowest byte first. */
function numberAt(delta: Buffer, at: number, present: number): [value: number, end: number] {
  let value = 0
  let end = at
  for (let place = 0, bits = present; bits > 0; place += 1, bits >>= 1) {
    if ((bits & 1) === 0) continue
    value += byteAt(delta, end) * 2 ** (8 * place)
    end += 1
  }
  return [value, end]
}

/** Reads a size of seven bits for each byte, the lowest first. */
function sizeAt(delta: Buffer, at: number): SizeAt {
  let size = 0
  for (let end = at, factor = 1; ; factor *= 128) {
    const byte = byteAt(delta, end)
    end += 1
    size += (byte & 0x7f) * factor
    if (!Number.isSafeInteger(size)) throw new Error('a delta has no size')
    if (byte < 0x80) return { size, end }
  }
}

function byteAt(delta: Buffer, at: number): number {
  const byte = delta[at]
  if (byte === undefined) throw new Error('a delta ends too early')
  return byte
}
