/** The second half of a sign-in: a code of the app or for recovery, and only then a session. */

import type { JSX } from 'preact/jsx-runtime'
import { noteSignIn } from '../auth/identify.js'
import { judgeCode } from '../auth/second-factor.js'
import { beginSession } from '../auth/session.js'
import { endTicket, findTicket, TICKET_PATH, useTicket } from '../auth/ticket.js'
import type { Context } from '../context.js'
import { Document } from './document.js'
import { htmlReply } from './html.js'
import { definePage, fieldOf, leadTo, orAgain, readForm } from './page.js'
import { Problem } from './problem.js'
import { ownPath } from './sign-in.js'

interface TwoFactorProps {
  readonly context: Context
  /** Where it leads. */
  readonly path: string
  readonly error?: string
}

function TwoFactor({ context, path, error }: TwoFactorProps): JSX.Element {
  const base = context.settings.http.baseUrl
  return (
    <Document context={context} title="Second factor">
      <section class="narrow">
        <h1>Second factor</h1>
        <Problem error={error} />
        <form method="post" action={base + TICKET_PATH}>
          <input type="hidden" name="redirect_to" value={path} />
          <label for="code">Code of your app, or a recovery code</label>
          <input
            {...{ type: 'text', id: 'code', name: 'code', autocomplete: 'one-time-code' }}
            {...{ required: true, autofocus: true, maxlength: 64 }}
          />
          <button type="submit">Sign in</button>
        </form>
        <p class="quiet">
          Without both, an administrator of this site can take the second factor away.
        </p>
        <p>
          <a href={`${base}/user/login`}>Sign in as somebody else</a>
        </p>
      </section>
    </Document>
  )
}

const show = definePage<'anyone'>({
  method: 'GET',
  path: TICKET_PATH,
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    if ((await findTicket(context.db, request)) === undefined) return leadTo(context, '/user/login')
    const asked = new URLSearchParams(request.query).get('redirect_to') ?? ''
    return htmlReply(request, <TwoFactor context={context} path={ownPath(context, asked)} />)
  },
})

const enter = definePage<'anyone'>({
  method: 'POST',
  path: TICKET_PATH,
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    const form = await readForm(request)
    const path = ownPath(context, fieldOf(form, 'redirect_to'))
    const user = await useTicket(context.db, request)
    const { address } = request
    const signIn = async () => {
      await judgeCode(context, { user, address, code: fieldOf(form, 'code') })
      await noteSignIn(context, { name: user.name, address }, user)
      const forgotten = await endTicket(context, request)
      return leadTo(context, path, [forgotten, await beginSession(context, request, user)])
    }
    return orAgain(signIn, ({ message, status }) => {
      const again = <TwoFactor context={context} path={path} error={message} />
      return htmlReply(request, again, { status })
    })
  },
})

export const TWO_FACTOR_PAGES = [show, enter]
