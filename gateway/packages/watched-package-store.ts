/** A shelf whose changes are told of: the formats know nothing of who listens. */

import type { Format } from '../../registry/format.js'
import type { Shelf } from '../../registry/package-store.js'
import { tellingPublication, tellingRemoval } from '../actions/packages/package-events.js'
import type { Grants } from '../auth/authorize.js'
import type { Context } from '../context.js'

export interface ShelfWatch {
  readonly grant: Grants['packages']
  readonly format: Pick<Format, 'name'>
}

/** The same shelf; versions that come or go on it become events. */
export function watchShelf(context: Context, shelf: Shelf, { grant, format }: ShelfWatch): Shelf {
  const place = { ownerId: grant.owner.id, format: format.name }
  return {
    ...shelf,
    publish: (upload, publication) => {
      const { packageName, version } = publication
      return tellingPublication(context, grant, {
        search: { ...place, packageName, version },
        publish: () => shelf.publish(upload, publication),
      })
    },
    removeFile: (question) => {
      const { packageName, version } = question
      return tellingRemoval(context, grant, {
        search: { ...place, packageName, version },
        remove: () => shelf.removeFile(question),
      })
    },
    removeVersion: (packageName, version) =>
      tellingRemoval(context, grant, {
        search: { ...place, packageName, version },
        remove: () => shelf.removeVersion(packageName, version),
      }),
  }
}
