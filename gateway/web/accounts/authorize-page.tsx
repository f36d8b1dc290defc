/** OAuth authorization page: requests the user's consent and redirects to the application. */

import type { JSX } from 'preact/jsx-runtime'
import type { Reply, Request } from '../../../conf/http.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  type AuthorizationParameters,
  findAuthorizingClient,
  grantCode,
  isGranted,
  readInput,
} from '../../actions/accounts/grant-code.js'
import { OauthFailure } from '../../auth/oauth-failure.js'
import { sentenceOfScope } from '../../auth/oauth-scopes.js'
import { withAnswer } from '../../auth/redirect-address.js'
import { signedIn } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, readForm } from '../kit/page.js'

const PATH = '/login/oauth/authorize'

/** Parameters that are sent again with the user's answer, because they are validated again. */
const FIELDS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'state',
  'scope',
  'nonce',
  'code_challenge',
  'code_challenge_method',
] as const

interface ConsentProps {
  readonly context: Context
  readonly user: User
  readonly input: AuthorizationParameters
  readonly fields: URLSearchParams
}

function Consent({ context, user, input, fields }: ConsentProps): JSX.Element {
  const { basePath } = context.settings.http
  const { application, ownerName, address } = input.asker
  return (
    <Document context={context} title="Authorize an application" user={user}>
      <section class="narrow">
        <h1>
          Authorize <Shown text={application.name} /> to use your account?
        </h1>
        <p>
          {ownerName === undefined ? (
            'It is a program that runs on your own computer. '
          ) : (
            <>
              It was registered on this server by{' '}
              <a href={`${basePath}/${ownerName}`}>{ownerName}</a>.{' '}
            </>
          )}
          {`You are signed in as ${user.name}.`}
        </p>
        <h2>Permissions</h2>
        <ul>
          {input.scopes.map((scope) => (
            <li>{sentenceOfScope(scope)}</li>
          ))}
          {input.openidScopes.length > 0 && <li>Read your name and e-mail address</li>}
        </ul>
        <p>
          After you answer, you are redirected to <code>{address}</code>. Authorize the application
          only if you have just started to sign in there.
        </p>
        <form method="post" action={basePath + PATH}>
          {FIELDS.filter((name) => fields.has(name)).map((name) => (
            <input type="hidden" name={name} value={fields.get(name) ?? ''} />
          ))}
          <button type="submit" name="answer" value="grant">
            Authorize
          </button>{' '}
          <button type="submit" name="answer" value="refuse" class="danger">
            Deny
          </button>
        </form>
      </section>
    </Document>
  )
}

const ask = definePage<'anyone'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'anyone' },
  handle: (context, { request, grant: { who } }) => {
    const fields = new URLSearchParams(request.query)
    return settle(context, { request, fields }, async (asker, redirect) => {
      const { user } = signedIn(who)
      const input = readInput(asker, fields)
      if (await isGranted(context.db, user.id, input)) {
        return redirect({ code: await grantCode(context.db, user.id, input) })
      }
      return htmlReply(
        request,
        <Consent context={context} user={user} input={input} fields={fields} />,
        {
          headers: [['Cache-Control', 'no-store']],
        },
      )
    })
  },
})

const answer = definePage<'signed-in'>({
  method: 'POST',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const fields = await readForm(request)
    return settle(context, { request, fields }, async (asker, redirect) => {
      const input = readInput(asker, fields)
      if (fields.get('answer') !== 'grant') {
        throw new OauthFailure('access_denied', 'The user denied the request.')
      }
      return redirect({ code: await grantCode(context.db, user.id, input) })
    })
  },
})

type Redirect = (said: Readonly<Record<string, string>>) => Reply

/**
 * Validates the client and its redirect address before it runs `work`, and reports OAuth errors of
 * `work` by redirecting to that address.
 */
async function settle(
  context: Context,
  { request, fields }: { readonly request: Request; readonly fields: URLSearchParams },
  work: (asker: AuthorizationParameters['asker'], redirect: Redirect) => Promise<Reply>,
): Promise<Reply> {
  const asker = await findAuthorizingClient(context.db, fields)
  const state = fields.get('state')
  const redirect: Redirect = (said) => {
    const all = state === null ? said : { ...said, state }
    return redirectOut(context, request, withAnswer(asker.address, all))
  }
  try {
    return await work(asker, redirect)
  } catch (thrown) {
    if (!(thrown instanceof OauthFailure)) throw thrown
    return redirect({ error: thrown.error, error_description: thrown.message })
  }
}

const PRIVATE_HEADERS = [
  ['Cache-Control', 'no-store'],
  ['Referrer-Policy', 'no-referrer'],
] as const

/**
 * Redirects the browser to the application. The Content-Security-Policy of our pages
 * (`form-action 'self'`) also forbids that a form is redirected to another site. So if the request
 * comes from one of our pages, such as the sign-in page, the reply is a page that refreshes to it.
 */
function redirectOut({ settings }: Context, request: Request, address: string): Reply {
  if (!isFromOurPage(request, settings.http.baseUrl)) {
    return { status: 303, headers: [['Location', address], ...PRIVATE_HEADERS] }
  }
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>Redirecting · Gatehouse</title>
      </head>
      <body>
        <main>
          <h1>Redirecting</h1>
          <p>
            <a href={address}>Continue to the application</a>
          </p>
        </main>
      </body>
    </html>
  )
  return htmlReply(request, page, {
    headers: [...PRIVATE_HEADERS, ['Refresh', `0; url=${address}`]],
  })
}

function isFromOurPage({ headers }: Request, baseUrl: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  return headers.get('referer')?.startsWith(`${baseUrl}/`) === true
}

export const AUTHORIZE_PAGES = [ask, answer]
