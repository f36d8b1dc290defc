/** Keys of clients, for limits per client. */

import { networkOf } from '../http/client-address.js'
import type { Identity } from './authenticate.js'

/**
 * Returns the key of a client: its account, deploy key, task or runner or, for an anonymous caller,
 * its network. `address` is read only in the last case.
 */
export function clientOf(who: Identity, origin: { readonly address: string }): string {
  switch (who.kind) {
    case 'user':
      return `user ${who.user.id}`
    case 'deploy-key':
      return `key ${who.keyId}`
    case 'job':
      return `task ${who.taskId}`
    case 'runner':
      return `runner ${who.runner.id}`
    case 'task':
      return `task ${who.task.taskId}`
    case 'address':
    case 'anonymous':
      return networkOf(origin.address)
  }
}
