/** Notice about the pending transfer of a repository, with the forms of the new owner. */

import type { JSX } from 'preact/jsx-runtime'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { findPendingTransfer, isOffered } from '../../../sql/repositories/pending-transfers.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { acceptTransfer, rejectTransfer } from '../../actions/repositories/transfer-repository.js'
import type { Context } from '../../request/context.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, redirectTo } from '../kit/page.js'

const PATH = '/{owner}/{repo}/transfer'
const ACCESS = { kind: 'repository', mode: 'read', isSignedIn: true, unit: 'any' } as const

/**
 * Returns the notice; undefined if no transfer is pending, or if the viewer neither administers the
 * repository nor can accept the transfer.
 */
export async function transferNotice(
  context: Context,
  grant: RepositoryGrant,
): Promise<JSX.Element | undefined> {
  const { user, repository, modes } = grant
  if (user === undefined) return undefined
  const pending = await findPendingTransfer(context.db, repository.id)
  if (pending === undefined) return undefined
  const mayAnswer = await isOffered(context.db, repository.id, user.id)
  if (!mayAnswer && !atLeast(modes.any, 'admin')) return undefined
  const recipient = (await findOwnersById(context.db, [pending.recipientId])).get(
    pending.recipientId,
  )
  const address = `${repositoryUrl(context, grant)}/transfer`
  return (
    <div class="notice">
      <p>{`This repository is offered to ${recipient?.name}, who has to accept the transfer.`}</p>
      {mayAnswer && (
        <>
          <form method="post" action={`${address}/accept`}>
            <button type="submit">Accept the transfer</button>
          </form>
          <form method="post" action={`${address}/reject`}>
            <button type="submit">Reject the transfer</button>
          </form>
        </>
      )}
    </div>
  )
}

const accept = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/accept`,
  access: ACCESS,
  async handle(context, { grant }) {
    const { owner, name } = (await acceptTransfer(context, grant.who, grant.repository.id))
      .repository
    return redirectTo(context, `/${owner.name}/${name}`)
  },
})

const reject = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/reject`,
  access: ACCESS,
  async handle(context, { grant }) {
    await rejectTransfer(context, grant.who, grant.repository.id)
    // The repository may be hidden from the recipient now.
    return redirectTo(context, '/')
  },
})

export const TRANSFER_PAGES = [accept, reject]
