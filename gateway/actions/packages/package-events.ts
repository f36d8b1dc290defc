/** Events of package versions that are published or deleted. */

import {
  findNewestVersion,
  listOwnerVersions,
  type VersionSearch,
} from '../../../sql/packages/package-lists.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'

type Grant = Grants['packages']

/** Maximum number of versions of a deleted package for which events are published. */
const VERSIONS_MAX = 100

/** Runs `publish`, and publishes an event if it created the version. */
export async function publishAndNotify(
  context: Context,
  grant: Grant,
  { search, publish }: { readonly search: VersionSearch; publish(): Promise<void> },
): Promise<void> {
  const isWatched = await isInterested(context, grant)
  const known = isWatched ? await findNewestVersion(context.db, search) : undefined
  await publish()
  if (!isWatched || known !== undefined) return
  await withWarning(context, async () => {
    const version = await findNewestVersion(context.db, search)
    if (version === undefined) return
    await context.events.publish({ kind: 'package_published', version, grant })
  })
}

/** Runs `remove` and returns its result. Publishes an event for each version that it deleted. */
export async function removeAndNotify(
  context: Context,
  grant: Grant,
  { search, remove }: { readonly search: VersionSearch; remove(): Promise<boolean> },
): Promise<boolean> {
  if (!(await isInterested(context, grant))) return await remove()
  const { entries } = await listOwnerVersions(context.db, search, { page: 1, limit: VERSIONS_MAX })
  const prepared = new Map<number, () => Promise<void>>()
  for (const version of entries) {
    const event = { kind: 'package_deleted', version, grant } as const
    prepared.set(version.id, await context.events.prepare(event))
  }
  const isRemoved = await remove()
  if (!isRemoved) return false
  await withWarning(context, async () => {
    const left = await listOwnerVersions(context.db, search, { page: 1, limit: VERSIONS_MAX })
    for (const { id } of left.entries) prepared.delete(id)
    for (const publish of prepared.values()) await publish()
  })
  return true
}

async function isInterested({ events }: Context, { owner }: Grant): Promise<boolean> {
  return await events.isInterested({ kind: 'package_changed', owner })
}

/** Logs an error instead of throwing it, because the change of the package is committed. */
async function withWarning(context: Context, work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) =>
    context.log.warn({ error }, 'events of a package were not published'),
  )
}
