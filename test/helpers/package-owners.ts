/** Owners of packages in a gateway that several tests share. */

import type { PackageFormat } from '../../conf/package.js'
import type { User } from '../../sql/accounts/users.js'
import type { Gateway } from './gateway.js'
import { withToken } from './requests.js'

export interface PackageOwner extends Pick<Gateway, 'ask'> {
  readonly owner: User
  /** Authorization header of the owner. */
  readonly authorization: string
  /** Path of the owner's packages. */
  readonly base: string
}

let owners = 0

/**
 * Adds a user without packages. Tests share a gateway, because the thread that reads its uploads
 * takes long to start.
 */
export async function addPackageOwner(
  gateway: Gateway,
  format: PackageFormat,
): Promise<PackageOwner> {
  owners += 1
  const owner = await gateway.addUser(`owner-${owners}`)
  const authorization = withToken((await gateway.addToken(owner, 'all')).plain)
  return { ask: gateway.ask, owner, authorization, base: `/api/packages/${owner.name}/${format}` }
}
