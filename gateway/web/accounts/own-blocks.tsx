/** Account settings, blocked users. */

import { ErrorMessage } from '../kit/problem.js'
import { AccountDocument } from './account-document.js'
import { blocksPages } from './blocked-users.js'

const PATH = '/user/settings/blocked_users'

export const OWN_BLOCKS_PAGES = blocksPages<'signed-in'>({
  path: PATH,
  access: { kind: 'signed-in' },
  pathOf: () => PATH,
  ownerOf: ({ user }) => user,
  document: ({ context, grant, error, children }) => (
    <AccountDocument context={context} user={grant.user} tab="blocked_users">
      <section>
        <h2>Blocked users</h2>
        <ErrorMessage error={error} />
        {children}
      </section>
    </AccountDocument>
  ),
})
