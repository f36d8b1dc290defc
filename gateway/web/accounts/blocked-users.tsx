/** Blocked users of a user or an organization: list, form, and the targets of the forms. */

import type { JSX } from 'preact/jsx-runtime'
import { listBlocked } from '../../../sql/accounts/blocks.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Page, Paged } from '../../../sql/database/page.js'
import { type Blocker, blockUser, unblockUser } from '../../actions/accounts/block-user.js'
import type { Context } from '../../request/context.js'
import { fieldOf } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { PeopleList } from '../kit/people-list.js'
import { TextField } from '../kit/text-field.js'

/** Number of blocked users per page. */
const LISTED = 50

export interface ShownBlocks extends Paged<User> {
  readonly page: Page
}

export async function readBlocks(
  { db }: Context,
  owner: Pick<Owner, 'id'>,
  number: number,
): Promise<ShownBlocks> {
  const page = { page: number, limit: LISTED }
  return { ...(await listBlocked(db, owner.id, page)), page }
}

export interface BlockedUsersProps {
  /** Base URL of the server. */
  readonly base: string
  /** URL of the page; its forms post to it and to paths below it. */
  readonly address: string
  readonly blocks: ShownBlocks
}

export function BlockedUsers({ base, address, blocks }: BlockedUsersProps): JSX.Element {
  const { entries, total, page } = blocks
  return (
    <>
      <p class="quiet">
        Blocked users can neither comment on nor open issues and pull requests here, and they lose
        their stars, watches, assignments and collaborations.
      </p>
      <PeopleList base={base} people={entries} removal={`${address}/remove`} />
      <Pager address={address} page={page} total={total} />
      <form method="post" action={address}>
        <TextField label="User" name="name" charactersMax={255} isRequired={true} />
        <button type="submit" class="danger">
          Block
        </button>
      </form>
    </>
  )
}

/** Blocks the user of the form. */
export async function blockNamed(context: Context, blocker: Blocker, form: URLSearchParams) {
  await blockUser(context.db, blocker, { name: fieldOf(form, 'name'), note: '' })
}

/** Unblocks the user of the form. */
export async function unblockNamed(context: Context, blocker: Blocker, form: URLSearchParams) {
  await unblockUser(context.db, blocker, fieldOf(form, 'name'))
}
