/** A package store restricted to the packages of a limited token or of a job. */

import type { PackageStore } from '../../registry/package-store.js'
import type { PackagesGrant } from '../auth/authorize-packages.js'
import { refuseOtherPackage } from '../auth/limits.js'

/**
 * Returns the store restricted to the packages of the permission: others can be neither published,
 * removed nor found by name. A job removes such packages only, and the store itself decides which
 * ones it publishes, because they may be new.
 */
export function narrowPackageStore(
  store: PackageStore,
  { packageNames: names, repositoryId }: Pick<PackagesGrant, 'packageNames' | 'repositoryId'>,
): PackageStore {
  if (names === undefined) return store
  const removals: Pick<PackageStore, 'removeFile' | 'removeVersion'> = {
    removeFile: async (question) => {
      refuseOtherPackage(names, question.packageName)
      return await store.removeFile(question)
    },
    removeVersion: async (packageName, version) => {
      refuseOtherPackage(names, packageName)
      return await store.removeVersion(packageName, version)
    },
  }
  if (repositoryId !== undefined) return { ...store, ...removals }
  return {
    ...store,
    ...removals,
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
  }
}
