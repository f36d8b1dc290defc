/** Events of package versions that are published or deleted. */

import {
  findNewestVersion,
  type ListedVersion,
  listOwnerVersions,
  type VersionSearch,
} from '../../../sql/packages/package-lists.js'
import { findRepositoryById } from '../../../sql/repositories/repositories.js'
import { hasSubscribersAnywhere } from '../../../sql/webhooks/webhooks.js'
import type { Grants } from '../../auth/authorize.js'
import { packageObjects } from '../../objects/packages/package-object.js'
import type { Context } from '../../request/context.js'
import { emit } from '../webhooks/events.js'
import { packageEvent } from '../webhooks/house-events.js'

type Grant = Grants['packages']

/** Maximum number of versions of a deleted package for which events are published. */
const VERSIONS_MAX = 100

/** Runs `publish`, and publishes an event if it created the version. */
export async function publishAndNotify(
  context: Context,
  grant: Grant,
  { search, publish }: { readonly search: VersionSearch; publish(): Promise<void> },
): Promise<void> {
  const hasSubscribers = await hasSubscribersAnywhere(context.db, grant.owner.id, 'package')
  const known = hasSubscribers ? await findNewestVersion(context.db, search) : undefined
  await publish()
  if (!hasSubscribers || known !== undefined) return
  await answering(context, async () => {
    const version = await findNewestVersion(context.db, search)
    if (version !== undefined) await tell(context, grant, { action: 'created', version })
  })
}

/** Runs `remove` and returns its result. Publishes an event for each version that it deleted. */
export async function removeAndNotify(
  context: Context,
  grant: Grant,
  { search, remove }: { readonly search: VersionSearch; remove(): Promise<boolean> },
): Promise<boolean> {
  if (!(await hasSubscribersAnywhere(context.db, grant.owner.id, 'package'))) return await remove()
  const { entries } = await listOwnerVersions(context.db, search, { page: 1, limit: VERSIONS_MAX })
  const objects = await packageObjects(context, entries, grant)
  const isRemoved = await remove()
  if (!isRemoved) return false
  await answering(context, async () => {
    const left = await listOwnerVersions(context.db, search, { page: 1, limit: VERSIONS_MAX })
    const ids = new Set(left.entries.map(({ id }) => id))
    for (const [at, version] of entries.entries()) {
      const object = objects[at]
      if (!ids.has(version.id)) await tell(context, grant, { action: 'deleted', version, object })
    }
  })
  return true
}

/** What has been done has been done, whether it can be told of or not. */
async function answering(context: Context, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) =>
    context.log.warn({ error }, 'webhooks were not told of a package'),
  )
}

interface EventInput {
  readonly action: 'created' | 'deleted'
  readonly version: ListedVersion
  /** Of one that is gone. */
  readonly object?: object | undefined
}

async function tell(context: Context, grant: Grant, { action, version, object }: EventInput) {
  const { repositoryId } = version
  const repository =
    repositoryId === undefined ? undefined : await findRepositoryById(context.db, repositoryId)
  const { owner, user: sender = owner } = grant
  const objectNow = async () => object ?? (await packageObjects(context, [version], grant))[0]
  await emit(
    context,
    packageEvent(context, { action, owner, sender, repository, object: objectNow }),
  )
}
