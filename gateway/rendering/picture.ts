/** Reduction of uploaded pictures to the size of avatars. */

import { createJimp } from '@jimp/core'
import gif from '@jimp/js-gif'
import jpeg from '@jimp/js-jpeg'
import png from '@jimp/js-png'
import * as cover from '@jimp/plugin-cover'
import { imageSize } from 'image-size'
import { Failure } from '../../conf/failures.js'

/** Width and height of a picture that is decoded, which then takes 64 MiB. */
const DIMENSION_MAX = 4_096

/** Width and height of the result. */
const AVATAR_PIXELS = 256

const TYPES: readonly (string | undefined)[] = ['png', 'jpg', 'gif']

const Jimp = createJimp({ formats: [png, jpeg, gif], plugins: [cover.methods] })

/**
 * Returns the middle of a PNG, JPEG or GIF image as a square PNG image. Throws `invalid` for other
 * data, and for images of more than DIMENSION_MAX pixels in a direction.
 */
export async function shrinkPicture(data: Uint8Array): Promise<Uint8Array> {
  const { width, height, type } = sizeOf(data)
  if (!TYPES.includes(type)) throw unreadable()
  if (width > DIMENSION_MAX || height > DIMENSION_MAX) {
    throw new Failure(
      'invalid',
      `The image has ${width} × ${height} pixels, but at most ${DIMENSION_MAX} × ${DIMENSION_MAX} are permitted.`,
    )
  }
  try {
    const image = await Jimp.fromBuffer(Buffer.from(data))
    image.cover({ w: AVATAR_PIXELS, h: AVATAR_PIXELS })
    return await image.getBuffer('image/png')
  } catch (error) {
    throw unreadable(error)
  }
}

function sizeOf(data: Uint8Array) {
  try {
    return imageSize(data)
  } catch (error) {
    throw unreadable(error)
  }
}

function unreadable(cause?: unknown): Failure {
  return new Failure('invalid', 'The image is not a valid PNG, JPEG or GIF image.', { cause })
}
