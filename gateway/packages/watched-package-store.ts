/** A package store that notifies webhooks of its changes; the formats know nothing of them. */

import type { Format } from '../../registry/format.js'
import type { PackageStore } from '../../registry/package-store.js'
import { publishAndNotify, removeAndNotify } from '../actions/packages/package-events.js'
import type { Grants } from '../auth/authorize.js'
import type { Context } from '../request/context.js'

export interface PackageStoreWatch {
  readonly grant: Grants['packages']
  readonly format: Pick<Format, 'name'>
}

/** Returns the same store; versions that are published or removed become events. */
export function watchPackageStore(
  context: Context,
  store: PackageStore,
  { grant, format }: PackageStoreWatch,
): PackageStore {
  const place = { ownerId: grant.owner.id, format: format.name }
  return {
    ...store,
    publish: (upload, publication) => {
      const { packageName, version } = publication
      return publishAndNotify(context, grant, {
        search: { ...place, packageName, version },
        publish: () => store.publish(upload, publication),
      })
    },
    removeFile: (question) => {
      const { packageName, version } = question
      return removeAndNotify(context, grant, {
        search: { ...place, packageName, version },
        remove: () => store.removeFile(question),
      })
    },
    removeVersion: (packageName, version) =>
      removeAndNotify(context, grant, {
        search: { ...place, packageName, version },
        remove: () => store.removeVersion(packageName, version),
      }),
  }
}
