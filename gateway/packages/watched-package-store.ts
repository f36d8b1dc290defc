/** A package store that creates events for its changes, so that formats need not do it. */

import type { Format } from '../../registry/format.js'
import type { PackageStore } from '../../registry/package-store.js'
import { publishAndNotify, removeAndNotify } from '../actions/packages/package-events.js'
import type { Grants } from '../auth/authorize.js'
import type { Context } from '../request/context.js'

export interface PackageStoreWatch {
  readonly grant: Grants['packages']
  readonly format: Pick<Format, 'name'>
}

/** Returns the store with events for versions that are published or removed. */
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
