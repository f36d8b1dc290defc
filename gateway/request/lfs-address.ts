/** Address of Git LFS of a repository, for clients over HTTPS and SSH. */

import type { Repository } from '../../sql/repositories/repositories.js'
import type { Context } from './context.js'

/** Returns the address to which a client adds `/objects/batch` and `/locks`. */
export function lfsAddress(
  { settings }: Pick<Context, 'settings'>,
  { owner, name }: Pick<Repository, 'owner' | 'name'>,
): string {
  return `${settings.http.baseUrl}/${owner.name}/${name}.git/info/lfs`
}
