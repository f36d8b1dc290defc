/** A package store restricted to the packages that a limited token names. */

import type { PackageStore } from '../../registry/package-store.js'
import { refuseOtherPackage } from '../auth/limits.js'

/**
 * Returns the store restricted to packages of these names (lower case): others can be neither
 * published, removed nor found by name. If `names` is undefined, returns the store itself.
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
