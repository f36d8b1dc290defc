/** Pictures for tests. */

import { PNG } from 'pngjs'

/** Returns a PNG image of one color. */
export function aPicture({ width = 40, height = 20, red = 200 } = {}): Buffer {
  const image = new PNG({ width, height })
  for (let place = 0; place < image.data.length; place += 4) {
    image.data.set([red, 0, 0, 255], place)
  }
  return PNG.sync.write(image)
}

/** Returns a PNG image of a few bytes that claims to have other dimensions. */
export function aPictureThatClaims(width: number, height: number): Buffer {
  const bytes = aPicture()
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}
