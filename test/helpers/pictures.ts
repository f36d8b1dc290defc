/** Pictures for tests. */

import { PNG } from 'pngjs'

/** Returns a PNG image of one color. */
export function aPicture({ width = 40, height = 20, red = 200 } = {}): Buffer {
  const image = new PNG({ width, height })
  image.data.fill(Buffer.from([red, 0, 0, 255]))
  // The default tries all five filters for each line; Paeth's costs a reader most.
  return PNG.sync.write(image, { filterType: 4 })
}

/** Returns a PNG image of a few bytes that claims to have other dimensions. */
export function aPictureThatClaims(width: number, height: number): Buffer {
  const bytes = aPicture()
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}
