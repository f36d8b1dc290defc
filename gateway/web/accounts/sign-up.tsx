/** Sign-up page, which exists while registration is open. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import { createUser } from '../../../sql/accounts/users.js'
import { isRegistrationOpen } from '../../../sql/admin/site.js'
import { newAccount } from '../../actions/accounts/make-account.js'
import { beginSession } from '../../auth/session.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { AccountForm, accountInputOf } from './account-form.js'

interface SignUpProps {
  readonly context: Context
  readonly form?: URLSearchParams
  readonly error?: string
}

function SignUp({ context, form, error }: SignUpProps): JSX.Element {
  const address = `${context.settings.http.basePath}/user/sign_up`
  return (
    <Document context={context} title="New account">
      <section class="narrow">
        <h1>New account</h1>
        <ErrorMessage error={error} />
        <AccountForm address={address} form={form} button="Create account" />
      </section>
    </Document>
  )
}

const show = definePage<'anyone'>({
  method: 'GET',
  path: '/user/sign_up',
  access: { kind: 'anyone' },
  async handle(context, { request, grant: { who } }) {
    await refuseWhileClosed(context)
    if (who.kind === 'user') return redirectTo(context, '/')
    return htmlReply(request, <SignUp context={context} />)
  },
})

const create = definePage<'anyone'>({
  method: 'POST',
  path: '/user/sign_up',
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    await refuseWhileClosed(context)
    const form = await readForm(request)
    const make = async () => {
      await context.throttle.makeAccount(request.address)
      const account = await newAccount({ ...accountInputOf(form), isAdmin: false })
      const user = await createUser(context.db, account)
      context.log.info(
        { event: 'sign-up', user: user.name, address: request.address },
        'account created',
      )
      return redirectTo(context, '/', [await beginSession(context, request, user)])
    }
    return withFormErrors(make, ({ message, status }) =>
      htmlReply(request, <SignUp context={context} form={form} error={message} />, { status }),
    )
  },
})

async function refuseWhileClosed({ db }: Context): Promise<void> {
  if (!(await isRegistrationOpen(db))) throw notFound()
}

export const SIGN_UP_PAGES = [show, create]
