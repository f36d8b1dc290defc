/** Downloads of the pictures of accounts, organizations and repositories. */

import { notFound } from '../../conf/failures.js'
import type { Reply } from '../../conf/http.js'
import { findAvatar } from '../../sql/accounts/avatars.js'
import { AVATARS_PATH, REPOSITORY_AVATARS_PATH } from '../objects/accounts/avatar-address.js'
import { identicon } from '../rendering/identicon.js'
import type { AnyRoute, Route } from '../request/route.js'
import { DOWNLOAD_SURFACE } from './surface.js'

/**
 * Serves pictures by hash. For a hash without a picture it serves an identicon, so that the answer
 * does not show which accounts exist.
 */
const ofOwner: Route<'open'> = {
  surface: DOWNLOAD_SURFACE,
  method: 'GET',
  path: `${AVATARS_PATH}/{hash}`,
  access: { kind: 'open' },
  scopes: [],
  async handle({ db }, { params }) {
    const hash = params['hash'] ?? ''
    if (/^[0-9a-f]{32}$/.test(hash)) return pictureReply(identicon(hash))
    if (!/^[0-9a-f]{64}$/.test(hash)) throw notFound()
    return pictureReply((await findAvatar(db, hash)) ?? identicon(hash))
  },
}

const ofRepository: Route<'open'> = {
  surface: DOWNLOAD_SURFACE,
  method: 'GET',
  path: `${REPOSITORY_AVATARS_PATH}/{hash}`,
  access: { kind: 'open' },
  scopes: [],
  async handle({ db }, { params }) {
    const picture = await findAvatar(db, params['hash'] ?? '')
    if (picture === undefined) throw notFound()
    return pictureReply(picture)
  },
}

function pictureReply(body: Uint8Array): Reply {
  return {
    status: 200,
    headers: [
      ['Content-Type', 'image/png'],
      ['Cache-Control', 'public, max-age=86400'],
      ['X-Content-Type-Options', 'nosniff'],
    ],
    body,
  }
}

export const AVATAR_ROUTES: readonly AnyRoute[] = [ofOwner, ofRepository]
