/** The command git-lfs-authenticate: a ticket with which git-lfs transfers objects over HTTPS. */

import type { Repository } from '../../sql/repositories/repositories.js'
import type { KeyHolder } from '../auth/authenticate-key.js'
import { makeLfsTicket } from '../auth/lfs-ticket.js'
import type { Context } from '../request/context.js'
import { lfsAddress } from '../request/lfs-address.js'
import type { Channel } from './channel.js'

export interface LfsAuthentication {
  readonly holder: KeyHolder
  readonly repository: Repository
  readonly operation: 'download' | 'upload'
}

/** Seconds for which the helper waits for the answer. */
const ANSWER_S = '10'

/** Prints the ticket in JSON, and ends the session. */
export async function sendLfsTicket(
  context: Context,
  channel: Channel,
  { holder, repository, operation }: LfsAuthentication,
): Promise<void> {
  const header = await makeLfsTicket(context, {
    repositoryId: repository.id,
    operation,
    enclosed: { key: holder.fingerprint },
  })
  const answer = {
    href: lfsAddress(context, repository),
    header: { Authorization: header.value },
    expires_in: Math.floor((header.expiresAtMs - Date.now()) / 1_000),
  }
  channel.listen()
  channel.send('talk', ANSWER_S)
  await channel.write(Buffer.from(JSON.stringify(answer)))
  channel.finish()
  channel.send('end', '0', '')
}
