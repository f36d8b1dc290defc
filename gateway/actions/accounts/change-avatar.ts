/** Upload of pictures of accounts, organizations and repositories. */

import { createHash } from 'node:crypto'
import { Failure } from '../../../conf/failures.js'
import { type AvatarSubject, setAvatar } from '../../../sql/accounts/avatars.js'
import type { Context } from '../../request/context.js'

/** Maximum size of an uploaded image, before and after its encoding in Base64. */
const IMAGE_BYTES_MAX = 1_048_576
export const IMAGE_CHARACTERS_MAX = 4 * Math.ceil(IMAGE_BYTES_MAX / 3)

/**
 * Stores an image, given in Base64, as the picture of a subject. The pool counts the task for
 * `ownerId`. Throws `bad_request` for malformed Base64, and `invalid` for an unreadable image.
 */
export async function changeAvatar(
  { db, shrinkPicture }: Pick<Context, 'db' | 'shrinkPicture'>,
  subject: AvatarSubject,
  { image, ownerId }: { readonly image: string; readonly ownerId: number },
): Promise<void> {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(image) || image.length % 4 !== 0) {
    throw new Failure('bad_request', 'The field "image" is not valid Base64.')
  }
  const picture = await shrinkPicture(Buffer.from(image, 'base64'), ownerId)
  // The subject is in the hash, so that equal pictures of two subjects are two rows.
  const hash = createHash('sha256').update(JSON.stringify(subject)).update(picture).digest('hex')
  await setAvatar(db, subject, { hash, picture })
}
