/** Settings of an organization, blocked users. */

import type { Request } from '../../../conf/http.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { BlockedUsers, blockNamed, readBlocks, unblockNamed } from '../accounts/blocked-users.js'
import { namedErrorMessage } from '../accounts/settings-document.js'
import { htmlReply } from '../kit/html.js'
import { organizationPath } from '../kit/links.js'
import { definePage, pageNumber, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { OrganizationDocument } from './organization-document.js'

const PATH = '/org/{org}/settings/blocked_users'
const ACCESS = { kind: 'organization', role: 'owner' } as const

interface Shows {
  readonly grant: Grants['organization']
  readonly error?: string
  readonly status?: number
}

async function answer(context: Context, request: Request, { grant, error, status = 200 }: Shows) {
  const blocks = await readBlocks(context, grant.organization, pageNumber(request))
  const { baseUrl } = context.settings.http
  const address = `${baseUrl}${organizationPath(grant)}/settings/blocked_users`
  const page = (
    <OrganizationDocument
      context={context}
      grant={grant}
      error={error}
      tab="settings"
      title="Blocked users"
    >
      <BlockedUsers base={baseUrl} address={address} blocks={blocks} />
    </OrganizationDocument>
  )
  return htmlReply(request, page, { status })
}

const show = definePage<'organization'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: (context, { request, grant }) => answer(context, request, { grant }),
})

/** Defines a form target that changes the blocks and redirects to the list. */
function formPage(path: string, change: typeof blockNamed) {
  return definePage<'organization'>({
    method: 'POST',
    path,
    access: ACCESS,
    async handle(context, { request, grant }) {
      const form = await readForm(request)
      const work = async () => {
        await change(context, { who: grant.who, owner: grant.organization }, form)
        return redirectTo(context, `${organizationPath(grant)}/settings/blocked_users`)
      }
      return withFormErrors(work, (failure) => {
        const { status } = failure
        return answer(context, request, { grant, error: namedErrorMessage(failure), status })
      })
    },
  })
}

export const ORGANIZATION_BLOCKS_PAGES = [
  show,
  formPage(PATH, blockNamed),
  formPage(`${PATH}/remove`, unblockNamed),
]
