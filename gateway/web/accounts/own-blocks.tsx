/** Account settings, blocked users. */

import type { Request } from '../../../conf/http.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { definePage, pageNumber, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { AccountDocument } from './account-document.js'
import { BlockedUsers, blockNamed, readBlocks, unblockNamed } from './blocked-users.js'
import { namedErrorMessage } from './settings-document.js'

const PATH = '/user/settings/blocked_users'
const ACCESS = { kind: 'signed-in' } as const

interface Shows {
  readonly grant: Grants['signed-in']
  readonly error?: string
  readonly status?: number
}

async function answer(context: Context, request: Request, { grant, error, status = 200 }: Shows) {
  const { user } = grant
  const blocks = await readBlocks(context, user, pageNumber(request))
  const { baseUrl } = context.settings.http
  const page = (
    <AccountDocument context={context} user={user} tab="blocked_users">
      <section>
        <h2>Blocked users</h2>
        <ErrorMessage error={error} />
        <BlockedUsers base={baseUrl} address={baseUrl + PATH} blocks={blocks} />
      </section>
    </AccountDocument>
  )
  return htmlReply(request, page, { status })
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: (context, { request, grant }) => answer(context, request, { grant }),
})

/** Defines a form target that changes the blocks and redirects to the list. */
function formPage(path: string, change: typeof blockNamed) {
  return definePage<'signed-in'>({
    method: 'POST',
    path,
    access: ACCESS,
    async handle(context, { request, grant }) {
      const form = await readForm(request)
      const work = async () => {
        await change(context, { who: grant.who, owner: grant.user }, form)
        return redirectTo(context, PATH)
      }
      return withFormErrors(work, (failure) => {
        const { status } = failure
        return answer(context, request, { grant, error: namedErrorMessage(failure), status })
      })
    },
  })
}

export const OWN_BLOCKS_PAGES = [
  show,
  formPage(PATH, blockNamed),
  formPage(`${PATH}/remove`, unblockNamed),
]
