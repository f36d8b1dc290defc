/** Requests of one client are counted together, from any address. */

import t from 'tap'
import { ANONYMOUS } from '../../../gateway/auth/authenticate.js'
import { clientOf } from '../../../gateway/auth/client.js'
import type { User } from '../../../sql/accounts/users.js'

const user = (id: number) =>
  ({ kind: 'user', user: { id } as User, by: 'token', scopes: [] }) as const
const HERE = { address: '192.0.2.7' }
const THERE = { address: '192.0.2.8' }

t.test(
  'an account and a key are one client everywhere, and anonymous clients are counted by network',
  async (t) => {
    const key = { kind: 'deploy-key', keyId: 1 } as const
    t.equal(clientOf(user(1), HERE), clientOf(user(1), THERE))
    t.equal(clientOf(key, HERE), clientOf(key, THERE))
    t.equal(
      clientOf(ANONYMOUS, { address: '2001:db8::1' }),
      clientOf(ANONYMOUS, { address: '2001:db8::2' }),
    )
    const all = [user(1), user(2), key, ANONYMOUS].map((who) => clientOf(who, HERE))
    t.equal(new Set([...all, clientOf(ANONYMOUS, THERE)]).size, 5)
  },
)
