/** Account settings, Security: the second factor is enrolled and disabled here. */

import type { JSX } from 'preact/jsx-runtime'
import type { Reply, Request } from '../../../conf/http.js'
import { findSecondFactor, type SecondFactor } from '../../../sql/accounts/second-factors.js'
import { listSecurityKeys, type SecurityKey } from '../../../sql/accounts/security-keys.js'
import type { User } from '../../../sql/accounts/users.js'
import { reauthenticate } from '../../auth/authenticate.js'
import {
  beginEnrolment,
  confirmEnrolment,
  renewRecoveryCodes,
  switchOff,
  waitingSecret,
} from '../../auth/second-factor.js'
import { beginSession } from '../../auth/session.js'
import { keyUri } from '../../auth/totp.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { AccountDocument } from './account-document.js'
import { keyScript } from './key-ceremony.js'
import { type KeyRegistration, SecurityKeys } from './security-keys.js'
import { Enrolled, ProofForm, RecoveryCodes, Waiting } from './security-parts.js'

/** Path of the page; its forms post to paths below it. */
export const SECURITY_PATH = '/user/settings/security'

interface SecurityProps {
  readonly context: Context
  readonly user: User
  readonly factor: SecondFactor | undefined
  /** Secret that waits for its first code; shown only in the response to the enrolment. */
  readonly secret?: string | undefined
  /** Recovery codes that were just created; this is the only response that shows them. */
  readonly codes?: readonly string[]
  readonly keys: readonly SecurityKey[]
  /** Security key that is being registered in this response. */
  readonly keyToAdd?: KeyRegistration
  readonly error?: string
}

function Security(props: SecurityProps): JSX.Element {
  const { context, user, factor, secret, codes, keys, keyToAdd, error } = props
  const address = context.settings.http.basePath + SECURITY_PATH
  const sinceMs = factor?.enrolledAtMs
  return (
    <AccountDocument context={context} user={user} tab="security">
      <section>
        <h2>Second factor</h2>
        <p class="quiet">
          After the password, signing in also requires a code from an app on your phone. Git, the
          API and package clients then accept tokens only, not the password.
        </p>
        <ErrorMessage error={error} />
        {codes !== undefined && <RecoveryCodes codes={codes} />}
        {sinceMs !== undefined && (
          <Enrolled address={address} sinceMs={sinceMs} left={factor?.recoveryCodesLeft ?? 0} />
        )}
        {sinceMs === undefined && secret === undefined && (
          <ProofForm action={`${address}/enrol`} id="enrol" button="Set up a second factor" />
        )}
        {secret !== undefined && (
          <Waiting
            address={address}
            secret={secret}
            uri={keyUri(secret, hostOf(context), user.name)}
          />
        )}
      </section>
      {sinceMs !== undefined && (
        <SecurityKeys context={context} address={address} keys={keys} keyToAdd={keyToAdd} />
      )}
    </AccountDocument>
  )
}

function hostOf({ settings }: Context): string {
  return new URL(settings.http.baseUrl).host
}

type Wanted = Pick<SecurityProps, 'user' | 'secret' | 'codes' | 'keyToAdd' | 'error'>

interface Answer extends Wanted {
  readonly status?: number
  readonly headers?: NonNullable<Reply['headers']>
}

/** Renders the page with the current state of the account. */
export async function answer(context: Context, request: Request, props: Answer): Promise<Reply> {
  const { status = 200, headers = [], user, ...rest } = props
  const factor = await findSecondFactor(context.db, user.id)
  const keys = await listSecurityKeys(context.db, user.id)
  const page = <Security context={context} user={user} factor={factor} keys={keys} {...rest} />
  const script = rest.keyToAdd && keyScript(context)
  const all = [['Cache-Control', 'no-store'] as const, ...headers]
  return htmlReply(request, page, { status, headers: all, script })
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: SECURITY_PATH,
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) => answer(context, request, { user }),
})

interface Proven {
  readonly request: Request
  readonly user: User
  readonly form: URLSearchParams
}

/** Defines a form target that requires the password or a code in the field `proof`. */
export function defineReauthenticatedForm(
  name: string,
  work: (context: Context, proven: Proven) => Promise<Reply>,
) {
  return definePage<'signed-in'>({
    method: 'POST',
    path: `${SECURITY_PATH}/${name}`,
    access: { kind: 'signed-in' },
    async handle(context, { request, grant: { user } }) {
      const form = await readForm(request)
      const text = form.get('proof') ?? ''
      const proven = async () => {
        await reauthenticate(context, { user, text, address: request.address })
        return await work(context, { request, user, form })
      }
      return withFormErrors(proven, ({ message, status }) =>
        answer(context, request, { user, error: message, status }),
      )
    },
  })
}

const enrol = defineReauthenticatedForm('enrol', async (context, { request, user }) => {
  await beginEnrolment(context, user)
  return await answer(context, request, { user, secret: await waitingSecret(context, user) })
})

const confirm = definePage<'signed-in'>({
  method: 'POST',
  path: `${SECURITY_PATH}/confirm`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const code = fieldOf(await readForm(request), 'code')
    const switchOn = async () => {
      const codes = await confirmEnrolment(context, { user, code })
      const headers = [await beginSession(context, request, user)]
      return await answer(context, request, { user, codes, headers })
    }
    return withFormErrors(switchOn, async ({ message, status }) => {
      const secret = await waitingSecret(context, user)
      return await answer(context, request, { user, secret, error: message, status })
    })
  },
})

const renew = defineReauthenticatedForm('recovery-codes', async (context, { request, user }) => {
  const codes = await renewRecoveryCodes(context.db, user)
  return await answer(context, request, { user, codes })
})

const disable = defineReauthenticatedForm('disable', async (context, { user }) => {
  await switchOff(context, user)
  return redirectTo(context, SECURITY_PATH)
})

export const SECURITY_PAGES = [show, enrol, confirm, renew, disable]
