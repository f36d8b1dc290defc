/** Default pictures: a symmetric pattern of squares, computed from a hash. */

import { PNG } from 'pngjs'

/** Squares in each row and column. */
const SQUARES = 5
const SQUARE_PIXELS = 20
const MARGIN_PIXELS = 10
const PIXELS = SQUARES * SQUARE_PIXELS + 2 * MARGIN_PIXELS

type Color = readonly [red: number, green: number, blue: number]

const BACKGROUND: Color = [240, 240, 240]

/** Returns a PNG image for a hash of at least 32 hexadecimal digits. */
export function identicon(hash: string): Uint8Array {
  const bytes = Buffer.from(hash.slice(0, 32), 'hex')
  const color: Color = [0, 1, 2].map((place) => 32 + ((bytes[place] ?? 0) * 5) / 8) as never
  const image = new PNG({ width: PIXELS, height: PIXELS, colorType: 2 })
  for (let y = 0; y < PIXELS; y += 1) {
    for (let x = 0; x < PIXELS; x += 1) {
      const [red, green, blue] = isFilled(bytes, x, y) ? color : BACKGROUND
      image.data.set([red, green, blue, 255], (y * PIXELS + x) * 4)
    }
  }
  return PNG.sync.write(image, { colorType: 2 })
}

/** True if the pixel is in a square of the pattern, whose right half mirrors the left. */
function isFilled(bytes: Uint8Array, x: number, y: number): boolean {
  const column = Math.floor((x - MARGIN_PIXELS) / SQUARE_PIXELS)
  const row = Math.floor((y - MARGIN_PIXELS) / SQUARE_PIXELS)
  if (column < 0 || row < 0 || column >= SQUARES || row >= SQUARES) return false
  const mirrored = Math.min(column, SQUARES - 1 - column)
  const bit = mirrored * SQUARES + row
  return (((bytes[3 + Math.floor(bit / 8)] ?? 0) >> (bit % 8)) & 1) === 1
}
