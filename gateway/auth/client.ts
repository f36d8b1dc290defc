/** Who counts as one client, where clients have shares of what there is. */

import { networkOf } from '../http/client-address.js'
import type { Identity } from './authenticate.js'

/** The account, the deploy key, or of a stranger the network; `address` is asked for then alone. */
export function clientOf(who: Identity, origin: { readonly address: string }): string {
  switch (who.kind) {
    case 'user':
      return `user ${who.user.id}`
    case 'deploy-key':
      return `key ${who.keyId}`
    case 'anonymous':
      return networkOf(origin.address)
  }
}
