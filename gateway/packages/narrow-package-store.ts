/** A shelf as a token for some of its packages opens it. */

import type { Shelf } from '../../registry/package-store.js'
import { refuseOtherPackage } from '../auth/limits.js'

/**
 * The same shelf, on which only packages of these names, in lower case, can be changed, and be
 * asked for before; undefined: all can.
 */
export function narrowShelf(shelf: Shelf, names: ReadonlySet<string> | undefined): Shelf {
  if (names === undefined) return shelf
  return {
    ...shelf,
    publish: async (upload, publication) => {
      refuseOtherPackage(names, publication.packageName)
      await shelf.publish(upload, publication)
    },
    findPackage: async (name) => {
      refuseOtherPackage(names, name)
      return await shelf.findPackage(name)
    },
    findFile: async (question) => {
      refuseOtherPackage(names, question.packageName)
      return await shelf.findFile(question)
    },
    removeFile: async (question) => {
      refuseOtherPackage(names, question.packageName)
      return await shelf.removeFile(question)
    },
    removeVersion: async (packageName, version) => {
      refuseOtherPackage(names, packageName)
      return await shelf.removeVersion(packageName, version)
    },
  }
}
