/** Pages with the blocked users of a user or an organization: list, and forms to change it. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Reply } from '../../../conf/http.js'
import { listBlocked } from '../../../sql/accounts/blocks.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Page, Paged } from '../../../sql/database/page.js'
import { type Blocker, blockUser, unblockUser } from '../../actions/accounts/block-user.js'
import type { Access, Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import {
  definePage,
  fieldOf,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { PeopleList } from '../kit/people-list.js'
import { TextField } from '../kit/text-field.js'
import { namedErrorMessage } from './settings-document.js'

type Kind = 'signed-in' | 'organization'

/** Differences between the pages of users and of organizations. */
export interface BlocksPages<K extends Kind> {
  readonly path: string
  readonly access: Extract<Access, { kind: K }>
  /** Returns the path of the list for a request. */
  readonly pathOf: (grant: Grants[K]) => string
  readonly ownerOf: (grant: Grants[K]) => Owner
  /** Renders a page around its content. */
  readonly document: (props: BlocksDocumentProps<K>) => JSX.Element
}

export interface BlocksDocumentProps<K extends Kind> {
  readonly context: Context
  readonly grant: Grants[K]
  readonly error: string | undefined
  readonly children?: Child
}

/** Returns the routes of the list and of its forms. */
export function blocksPages<K extends Kind>(pages: BlocksPages<K>): readonly AnyRoute[] {
  const { path, access, ownerOf, pathOf } = pages
  const show = definePage<K>({
    method: 'GET',
    path,
    access,
    handle: (context, call) => answer(context, pages, { call }),
  })
  const target = (below: string, change: typeof blockNamed): AnyRoute =>
    definePage<K>({
      method: 'POST',
      path: path + below,
      access,
      async handle(context, call) {
        const { grant } = call
        const form = await readForm(call.request)
        const work = async () => {
          await change(context, { who: grant.who, owner: ownerOf(grant) }, form)
          return redirectTo(context, pathOf(grant))
        }
        return withFormErrors(work, (failure) => {
          const { status } = failure
          return answer(context, pages, { call, error: namedErrorMessage(failure), status })
        })
      },
    })
  return [show, target('', blockNamed), target('/remove', unblockNamed)]
}

interface Shows<K extends Kind> {
  readonly call: Call<K>
  readonly error?: string
  readonly status?: number
}

async function answer<K extends Kind>(
  context: Context,
  { ownerOf, pathOf, document: Document }: BlocksPages<K>,
  { call, error, status = 200 }: Shows<K>,
): Promise<Reply> {
  const { request, grant } = call
  const blocks = await readBlocks(context, ownerOf(grant), pageNumber(request))
  const { basePath } = context.settings.http
  const page = (
    <Document context={context} grant={grant} error={error}>
      <BlockedUsers base={basePath} address={basePath + pathOf(grant)} blocks={blocks} />
    </Document>
  )
  return htmlReply(request, page, { status })
}

/** Number of blocked users per page. */
const LISTED = 50

interface ShownBlocks extends Paged<User> {
  readonly page: Page
}

async function readBlocks(
  { db }: Context,
  owner: Pick<Owner, 'id'>,
  number: number,
): Promise<ShownBlocks> {
  const page = { page: number, limit: LISTED }
  return { ...(await listBlocked(db, owner.id, page)), page }
}

interface BlockedUsersProps {
  /** Path of the site, without a slash at the end. */
  readonly base: string
  /** URL of the page; its forms post to it and to paths below it. */
  readonly address: string
  readonly blocks: ShownBlocks
}

function BlockedUsers({ base, address, blocks }: BlockedUsersProps): JSX.Element {
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
async function blockNamed(context: Context, blocker: Blocker, form: URLSearchParams) {
  await blockUser(context.db, blocker, { name: fieldOf(form, 'name'), note: '' })
}

/** Unblocks the user of the form. */
async function unblockNamed(context: Context, blocker: Blocker, form: URLSearchParams) {
  await unblockUser(context.db, blocker, fieldOf(form, 'name'))
}
