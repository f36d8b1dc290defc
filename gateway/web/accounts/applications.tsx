/** Account settings, Applications: tokens are created, shown once, listed and revoked here. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import { deleteToken, listTokens, type Token } from '../../../sql/accounts/tokens.js'
import type { User } from '../../../sql/accounts/users.js'
import { issueToken } from '../../actions/accounts/issue-token.js'
import { type LimitNames, namesOfLimits, readLimits } from '../../actions/accounts/token-limits.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { RemovalForm } from '../kit/removal-form.js'
import { Ago } from '../kit/times.js'
import { AccountDocument } from './account-document.js'
import { sentLimits, TokenForm } from './token-form.js'

const PATH = '/user/settings/applications'
const LISTED = 50

interface ApplicationsProps {
  readonly context: Context
  readonly user: User
  readonly tokens: readonly Token[]
  readonly namesOf: (token: Token) => LimitNames
  readonly form?: URLSearchParams
  /** Token that was just created; this is the only response that shows it. */
  readonly plain?: string
  readonly error?: string
}

function Applications(props: ApplicationsProps): JSX.Element {
  const { context, user, tokens, namesOf, form, plain, error } = props
  const address = context.settings.http.basePath + PATH
  return (
    <AccountDocument context={context} user={user} tab="applications">
      <section>
        <h2>Applications</h2>
        <p class="quiet">
          Programs such as git, curl, CI servers and package clients sign in to your account with a
          token.
        </p>
        <ErrorMessage error={error} />
        {plain !== undefined && <NewToken plain={plain} />}
        <h3>Tokens</h3>
        <TokenList address={address} tokens={tokens} namesOf={namesOf} />
        <h3>New token</h3>
        <TokenForm address={address} form={form} />
      </section>
    </AccountDocument>
  )
}

function NewToken({ plain }: { readonly plain: string }): JSX.Element {
  return (
    <div class="notice" role="status">
      <label for="token">Copy the new token now: it is not shown again.</label>
      <input type="text" id="token" class="code" value={plain} readonly={true} />
    </div>
  )
}

interface TokenListProps extends Pick<ApplicationsProps, 'tokens' | 'namesOf'> {
  readonly address: string
}

function TokenList({ address, tokens, namesOf }: TokenListProps): JSX.Element {
  if (tokens.length === 0) return <p class="empty">There are no tokens yet.</p>
  return (
    <ul class="list">
      {tokens.map((token) => (
        <li>
          <Icon name="key" />
          <TokenLine token={token} names={namesOf(token)} />
          <RemovalForm
            address={`${address}/delete`}
            id={token.id}
            word="Revoke"
            label={`Revoke ${token.name}`}
          />
        </li>
      ))}
    </ul>
  )
}

function TokenLine({ token, names }: { readonly token: Token; readonly names: LimitNames }) {
  const { name, scopes, lastUsedAtMs, lastEight, limits } = token
  const opened = [...names.repositories, ...names.packages]
  const addresses = limits?.addresses ?? []
  return (
    <div class="grow">
      <strong>
        <Shown text={name} />
      </strong>{' '}
      <code>{`…${lastEight}`}</code>
      <p class="quiet">
        {`${scopes.join(', ')} · `}
        {lastUsedAtMs === undefined ? 'never used' : 'last used '}
        {lastUsedAtMs !== undefined && <Ago atMs={lastUsedAtMs} />}
        {limits?.expiresAtMs !== undefined && ' · expires '}
        {limits?.expiresAtMs !== undefined && <Ago atMs={limits.expiresAtMs} />}
      </p>
      {limits?.reach !== undefined && (
        <p class="quiet">
          <Shown text={`limited to ${opened.join(', ') || 'deleted repositories or packages'}`} />
        </p>
      )}
      {addresses.length > 0 && <p class="quiet">{`only from ${addresses.join(', ')}`}</p>}
    </div>
  )
}

async function answer(
  context: Context,
  request: Request,
  {
    user,
    status = 200,
    ...rest
  }: Omit<ApplicationsProps, 'context' | 'tokens' | 'namesOf'> & {
    readonly status?: number
  },
) {
  const { entries } = await listTokens(context.db, user.id, { page: 1, limit: LISTED })
  const namesOf = await namesOfLimits(context.db, user, entries)
  const page = (
    <Applications context={context} user={user} tokens={entries} namesOf={namesOf} {...rest} />
  )
  return htmlReply(request, page, { status, headers: [['Cache-Control', 'no-store']] })
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) => answer(context, request, { user }),
})

const create = definePage<'signed-in'>({
  method: 'POST',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const make = async () => {
      const name = fieldOf(form, 'name')
      if (name === '') throw new Failure('invalid', 'The token has no name. Enter a name.')
      const limits = await readLimits(context.db, user, sentLimits(form))
      const input = { userId: user.id, name, scopes: form.getAll('scope'), limits }
      const { plain } = await issueToken(context.db, input)
      return await answer(context, request, { user, plain })
    }
    return withFormErrors(make, ({ message, status }) =>
      answer(context, request, { user, form, error: message, status }),
    )
  },
})

const revoke = definePage<'signed-in'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const id = readId(fieldOf(await readForm(request), 'id'))
    if (id !== undefined) await deleteToken(context.db, user.id, id)
    return redirectTo(context, PATH)
  },
})

export const APPLICATIONS_PAGES = [show, create, revoke]
