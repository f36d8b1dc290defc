/** A shelf as a token for some of its packages opens it. */

import type { PackageStore } from '../../registry/package-store.js'
import { refuseOtherPackage } from '../auth/limits.js'

/**
 * The same shelf, on which only packages of these names, in lower case, can be changed, and be
 * asked for before; undefined: all can.
 */
export function narrowPackageStore(
  store: PackageStore,
  names: ReadonlySet<string> | undefined,
): PackageStore {
  if (names === undefined) return store
  return {
    ...store,
    publish: async (upload, publication) => {
      refuseOtherPackage(names, publication.packageName)
      await store.publish(upload, publication)
    },
    findPackage: async (name) => {
      refuseOtherPackage(names, name)
      return await store.findPackage(name)
    },
    findFile: async (question) => {
      refuseOtherPackage(names, question.packageName)
      return await store.findFile(question)
    },
    removeFile: async (question) => {
      refuseOtherPackage(names, question.packageName)
      return await store.removeFile(question)
    },
    removeVersion: async (packageName, version) => {
      refuseOtherPackage(names, packageName)
      return await store.removeVersion(packageName, version)
    },
  }
}
