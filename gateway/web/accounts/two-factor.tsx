/** Second step of signing in: a code or a security key, after which the session is created. */

import type { JSX } from 'preact/jsx-runtime'
import type { Failure } from '../../../conf/failures.js'
import type { Reply, Request } from '../../../conf/http.js'
import { completeSignIn } from '../../auth/authenticate.js'
import { verifyCode } from '../../auth/second-factor.js'
import { requestOptions, verifyKey } from '../../auth/security-keys.js'
import { beginSession } from '../../auth/session.js'
import { endTicket, findTicket, TICKET_PATH, type Ticket, useTicket } from '../../auth/ticket.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { KeyCeremony, keyScript } from './key-ceremony.js'
import { ownPath } from './sign-in.js'

const KEY_PATH = `${TICKET_PATH}/key`

interface TwoFactorProps {
  readonly context: Context
  /** Path of this site to redirect to afterwards. */
  readonly path: string
  /** WebAuthn request options; undefined if the account has no security keys. */
  readonly keyOptions: object | undefined
  readonly error?: string
}

function TwoFactor({ context, path, keyOptions, error }: TwoFactorProps): JSX.Element {
  const base = context.settings.http.basePath
  return (
    <Document context={context} title="Second factor">
      <section class="narrow">
        <h1>Second factor</h1>
        <ErrorMessage error={error} />
        <form method="post" action={base + TICKET_PATH}>
          <input type="hidden" name="redirect_to" value={path} />
          <label for="code">Code from your app, or a recovery code</label>
          <input
            type="text"
            id="code"
            name="code"
            autocomplete="one-time-code"
            required={true}
            autofocus={true}
            maxlength={64}
          />
          <button type="submit">Sign in</button>
        </form>
        {keyOptions !== undefined && (
          <KeyCeremony
            context={context}
            kind="get"
            options={keyOptions}
            button="Use a security key"
            action={base + KEY_PATH}
          >
            <input type="hidden" name="redirect_to" value={path} />
          </KeyCeremony>
        )}
        <p class="quiet">
          If you have neither, an administrator of this site can remove the second factor.
        </p>
        <p>
          <a href={`${base}/user/login`}>Sign in as another user</a>
        </p>
      </section>
    </Document>
  )
}

interface Answer extends Pick<TwoFactorProps, 'path'> {
  readonly ticket: Ticket
  readonly failure?: Failure
}

/** Renders the page with a new WebAuthn challenge. */
async function answer(context: Context, request: Request, props: Answer): Promise<Reply> {
  const { ticket, path, failure } = props
  const keyOptions = await requestOptions(context, ticket.user, ticket.hash)
  const page = (
    <TwoFactor context={context} path={path} keyOptions={keyOptions} {...problemOf(failure)} />
  )
  const script = keyOptions && keyScript(context)
  return htmlReply(request, page, { status: failure?.status ?? 200, script })
}

function problemOf(failure: Failure | undefined) {
  return failure === undefined ? {} : { error: failure.message }
}

const show = definePage<'anyone'>({
  method: 'GET',
  path: TICKET_PATH,
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    const ticket = await findTicket(context.db, request)
    if (ticket === undefined) return redirectTo(context, '/user/login')
    const asked = new URLSearchParams(request.query).get('redirect_to') ?? ''
    return await answer(context, request, { ticket, path: ownPath(context, asked) })
  },
})

interface Attempt {
  readonly ticket: Ticket
  readonly form: URLSearchParams
  readonly address: string
}

/** Defines a form target that signs in unless `verify` throws. */
function defineStep(path: string, verify: (context: Context, attempt: Attempt) => Promise<void>) {
  return definePage<'anyone'>({
    method: 'POST',
    path,
    access: { kind: 'anyone' },
    async handle(context, { request }) {
      const form = await readForm(request)
      const path = ownPath(context, fieldOf(form, 'redirect_to'))
      const ticket = await useTicket(context.db, request)
      const { user } = ticket
      const { address } = request
      const signIn = async () => {
        await verify(context, { ticket, form, address })
        await completeSignIn(context, { name: user.name, address }, user)
        const forgotten = await endTicket(context, request)
        return redirectTo(context, path, [forgotten, await beginSession(context, request, user)])
      }
      return withFormErrors(signIn, (failure) =>
        answer(context, request, { ticket, path, failure }),
      )
    },
  })
}

const enter = defineStep(TICKET_PATH, (context, { ticket, form, address }) =>
  verifyCode(context, { user: ticket.user, address, code: fieldOf(form, 'code') }),
)

const enterWithKey = defineStep(KEY_PATH, (context, { ticket, form, address }) =>
  verifyKey(context, {
    user: ticket.user,
    ticketHash: ticket.hash,
    address,
    answer: fieldOf(form, 'answer'),
  }),
)

export const TWO_FACTOR_PAGES = [show, enter, enterWithKey]
