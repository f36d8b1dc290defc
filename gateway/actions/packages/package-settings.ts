/** Settings of an owner's packages with what they use. */

import { configuredQuota } from '../../../registry/lend-package-store.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import {
  type OwnerSettings,
  type Quota,
  quotaOf,
  readOwnerSettings,
  readUsage,
  type Usage,
} from '../../../sql/packages/owner-settings.js'
import { lfsQuotaOfOwner, sumLfsBytes } from '../../../sql/repositories/lfs-quota.js'
import type { Context } from '../../request/context.js'

export interface PackageSettings {
  readonly isImmutable: boolean
  readonly usage: Usage
  /** The quota that applies. */
  readonly quota: Quota
  /** The owner's own quota, which replaces that of the configuration. */
  readonly ownQuota: OwnerSettings['quota']
  /** Total size of the LFS objects of the owner's repositories, and its limit that applies. */
  readonly lfs: { readonly bytes: number; readonly bytesMax: number | undefined }
}

/** Reads the settings of an owner. */
export async function packageSettings(
  { db, registry, settings: { lfs } }: Context,
  owner: Owner,
): Promise<PackageSettings> {
  const settings = await readOwnerSettings(db, owner.id)
  return {
    isImmutable: settings.isImmutable,
    usage: await readUsage(db, owner.id),
    quota: quotaOf(settings, configuredQuota(registry.settings())),
    ownQuota: settings.quota,
    lfs: {
      bytes: await sumLfsBytes(db, owner.id),
      bytesMax: (await lfsQuotaOfOwner(db, owner.id, lfs)).bytesMax,
    },
  }
}
