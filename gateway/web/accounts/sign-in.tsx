/** Sign-in and sign-out pages; each sign-in creates a new session. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import { isRegistrationOpen } from '../../../sql/admin/site.js'
import { authenticateByPassword, completeSignIn } from '../../auth/authenticate.js'
import { hasSecondFactor } from '../../auth/second-factor.js'
import { beginSession, endSession, forgetSession } from '../../auth/session.js'
import { beginTicket, TICKET_PATH } from '../../auth/ticket.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'

interface SignInProps {
  readonly context: Context
  readonly name?: string
  /** Path of this site to redirect to afterwards. */
  readonly path: string
  readonly error?: string
  /** True if registration is open. */
  readonly hasSignUp: boolean
}

function SignIn({ context, name = '', path, error, hasSignUp }: SignInProps): JSX.Element {
  return (
    <Document context={context} title="Sign in">
      <section class="narrow">
        <h1>Sign in</h1>
        <ErrorMessage error={error} />
        <form method="post" action={`${context.settings.http.basePath}/user/login`}>
          <input type="hidden" name="redirect_to" value={path} />
          <label for="name">Name</label>
          <input
            type="text"
            id="name"
            name="user_name"
            autocomplete="username"
            value={name}
            required={true}
            autofocus={true}
          />
          <label for="password">Password</label>
          <input
            type="password"
            id="password"
            name="password"
            required={true}
            autocomplete="current-password"
          />
          <button type="submit">Sign in</button>
        </form>
        {hasSignUp && (
          <p>
            No account yet?{' '}
            <a href={`${context.settings.http.basePath}/user/sign_up`}>Create one</a>.
          </p>
        )}
      </section>
    </Document>
  )
}

const show = definePage<'anyone'>({
  method: 'GET',
  path: '/user/login',
  access: { kind: 'anyone' },
  async handle(context, { request, grant: { who } }) {
    const asked = new URLSearchParams(request.query).get('redirect_to')
    const path = ownPath(context, asked ?? pathBefore(context, request))
    if (who.kind === 'user') return redirectTo(context, path)
    const hasSignUp = await isRegistrationOpen(context.db)
    return htmlReply(request, <SignIn context={context} path={path} hasSignUp={hasSignUp} />)
  },
})

const enter = definePage<'anyone'>({
  method: 'POST',
  path: '/user/login',
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    const form = await readForm(request)
    const name = fieldOf(form, 'user_name')
    const path = ownPath(context, fieldOf(form, 'redirect_to'))
    const signIn = async () => {
      const password = form.get('password') ?? ''
      const attempt = { name, password, address: request.address }
      const user = await authenticateByPassword(context, attempt)
      if (await hasSecondFactor(context.db, user.id)) {
        const next = `${TICKET_PATH}?redirect_to=${encodeURIComponent(path)}`
        return redirectTo(context, next, [await beginTicket(context, user)])
      }
      await completeSignIn(context, attempt, user)
      return redirectTo(context, path, [await beginSession(context, request, user)])
    }
    return withFormErrors(signIn, async ({ message, status }) => {
      const hasSignUp = await isRegistrationOpen(context.db)
      const again = (
        <SignIn context={context} name={name} path={path} hasSignUp={hasSignUp} error={message} />
      )
      return htmlReply(request, again, { status })
    })
  },
})

const leave = definePage<'anyone'>({
  method: 'POST',
  path: '/user/logout',
  access: { kind: 'anyone' },
  async handle(context, { request }) {
    await endSession(context, request)
    return redirectTo(context, '/', [forgetSession(context.settings)])
  },
})

/** Returns the path of the `Referer`; `/` if it is absent or of another origin. */
function pathBefore({ settings }: Context, { headers }: Request): string {
  const { origin } = new URL(settings.http.baseUrl)
  const referer = headers.get('referer') ?? ''
  return referer.startsWith(`${origin}/`) ? referer.slice(origin.length) : '/'
}

/**
 * Returns a redirect target if it is a path of this site, without the base path; otherwise `/`.
 * Browsers treat a backslash as a slash, and two leading slashes as another host.
 */
export function ownPath({ settings }: Pick<Context, 'settings'>, text: string): string {
  const { basePath } = settings.http
  const local =
    basePath !== '' && text.startsWith(`${basePath}/`) ? text.slice(basePath.length) : text
  const isOwn = /^\/(?!\/)[\u0021-\u007e]*$/.test(local) && !local.includes('\\')
  return isOwn && !/^\/user\/(?:log(?:in|out)|two-factor)/.test(local) ? local : '/'
}

export const SIGN_IN_PAGES = [show, enter, leave]
