/** Push mirrors: creation, and pushes that follow a push to the repository. */

import { randomBytes } from 'node:crypto'
import { isFailure } from '../../../conf/failures.js'
import { addPushMirror, listMirrorsOnPush } from '../../../sql/repositories/push-mirrors.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { UnresolvedHost } from '../../outbound/address.js'
import { basicAuthorization, parseCloneAddress, resolveRemote } from '../../outbound/git-remote.js'
import { sealCredentials } from '../../outbound/mirror-credentials.js'
import type { Context } from '../../request/context.js'
import type { Subscriber } from '../../request/events.js'

export interface PushMirrorInput {
  readonly address: string
  /** User name and password; empty if the address has them or the server needs none. */
  readonly username: string
  readonly password: string
  readonly intervalMs: number
  readonly syncsOnPush: boolean
}

/**
 * Creates a push mirror and returns its name. Throws `invalid` for an address that is malformed or
 * not allowed. The host need not resolve yet: each push checks it again.
 */
export async function createPushMirror(
  context: Context,
  repository: Repository,
  { address: text, username, password, intervalMs, syncsOnPush }: PushMirrorInput,
): Promise<string> {
  const { db, settings } = context
  const address = parseCloneAddress(text)
  await resolveRemote(context, { url: address.url, authorization: undefined }).catch(
    refuseUnlessPassing,
  )
  const authorization =
    basicAuthorization(username, password) ?? basicAuthorization(address.username, address.password)
  const place = { dataDir: settings.data.dir, storage: repository.storage }
  const remoteName = `remote_mirror_${randomBytes(5).toString('hex')}`
  await addPushMirror(db, {
    repositoryId: repository.id,
    remoteName,
    url: address.url.href,
    credentialsSealed: await sealCredentials(place, authorization),
    intervalMs,
    syncsOnPush,
  })
  return remoteName
}

function refuseUnlessPassing(error: unknown): void {
  if (error instanceof UnresolvedHost || isFailure(error, 'bad_gateway')) return
  throw error
}

/** Creates the subscriber that has push mirrors updated after pushes to their repository. */
export function createPushMirrorSubscriber({ db, upkeep }: Context): Subscriber {
  return {
    async handle(event) {
      if (event.kind !== 'refs_changed') return
      for (const id of await listMirrorsOnPush(db, event.repository.id)) {
        await upkeep.enqueuePushMirror(id)
      }
    },
    async isInterested(place) {
      if (place.kind !== 'refs_changed') return false
      return (await listMirrorsOnPush(db, place.repository.id)).length > 0
    },
  }
}
