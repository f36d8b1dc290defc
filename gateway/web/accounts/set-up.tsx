/** Page that creates the first administrator account; it exists only until there is an account. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import { createFirstUser } from '../../../sql/admin/site.js'
import { newAccount } from '../../actions/accounts/make-account.js'
import { beginSession } from '../../auth/session.js'
import { authorizeSetUp, forgetSetUpCode } from '../../auth/set-up.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { AccountForm, accountInputOf } from './account-form.js'

interface SetUpProps {
  readonly context: Context
  /** Setup code as received, which the form sends again. */
  readonly code: string
  readonly form?: URLSearchParams
  readonly error?: string
}

function SetUp({ context, code, form, error }: SetUpProps): JSX.Element {
  const address = `${context.settings.http.basePath}/setup`
  return (
    <Document context={context} title="Set up">
      <section class="narrow">
        <h1>Set up</h1>
        <p>
          The first account is an administrator. After you create it, this page no longer exists.
        </p>
        <ErrorMessage error={error} />
        <AccountForm address={address} form={form} button="Create account">
          <input type="hidden" name="code" value={code} />
        </AccountForm>
      </section>
    </Document>
  )
}

const show = definePage<'anyone'>({
  method: 'GET',
  path: '/setup',
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    const code = new URLSearchParams(request.query).get('code') ?? ''
    await authorizeSetUp(context, request, code)
    const headers = [['Cache-Control', 'no-store']] as const
    return htmlReply(request, <SetUp context={context} code={code} />, { headers })
  },
})

const create = definePage<'anyone'>({
  method: 'POST',
  path: '/setup',
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    const form = await readForm(request)
    const code = fieldOf(form, 'code')
    await authorizeSetUp(context, request, code)
    const make = async () => {
      const first = await newAccount({ ...accountInputOf(form), isAdmin: true })
      const user = await createFirstUser(context.db, first)
      if (user === undefined) throw notFound()
      context.log.warn(
        { event: 'set-up', user: user.name, address: request.address },
        'first account created',
      )
      await forgetSetUpCode(context.settings.data.dir)
      return redirectTo(context, '/', [await beginSession(context, request, user)])
    }
    return withFormErrors(make, (failure) => {
      const { message, status } = failure
      if (status === 404) throw failure
      const again = <SetUp context={context} code={code} form={form} error={message} />
      return htmlReply(request, again, { status })
    })
  },
})

export const SET_UP_PAGES = [show, create]
