/** Account settings, Applications: tokens are made here, shown once, and revoked. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { deleteToken, listTokens, type Token } from '../../sql/tokens.js'
import type { User } from '../../sql/users.js'
import { issueToken } from '../actions/issue-token.js'
import { readId } from '../auth/refusals.js'
import type { Context } from '../context.js'
import { AccountDocument } from './account-document.js'
import { htmlReply } from './html.js'
import { Icon } from './icon.js'
import { definePage, fieldOf, leadTo, orAgain, readForm } from './page.js'
import { Problem } from './problem.js'
import { Ago } from './times.js'
import { Shown } from './visible-text.js'

const PATH = '/user/settings/applications'
const LISTED = 50
const DAY_MS = 86_400_000

/** What a token may be for, in the words of who asks for one. */
const SCOPES = [
  ['write:repository', 'Repositories: clone, push, and change them'],
  ['read:repository', 'Repositories: clone and read'],
  ['write:package', 'Packages: publish and remove'],
  ['read:package', 'Packages: install'],
  ['write:issue', 'Issues and pull requests'],
  ['read:user', 'The account: read'],
  ['all', 'Everything that you may do'],
] as const

interface ApplicationsProps {
  readonly context: Context
  readonly user: User
  readonly tokens: readonly Token[]
  /** Just made: to be seen this once. */
  readonly plain?: string
  readonly error?: string
}

function Applications({ context, user, tokens, plain, error }: ApplicationsProps): JSX.Element {
  const address = context.settings.http.baseUrl + PATH
  return (
    <AccountDocument context={context} user={user} tab="applications">
      <section>
        <h2>Applications</h2>
        <p class="quiet">
          A token stands for you where a program signs in: git, curl, a CI server, a package client.
        </p>
        <Problem error={error} />
        {plain !== undefined && <NewToken plain={plain} />}
        <h3>Tokens</h3>
        <TokenList address={address} tokens={tokens} />
        <h3>New token</h3>
        <TokenForm address={address} />
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

interface TokenListProps {
  readonly address: string
  readonly tokens: readonly Token[]
}

function TokenList({ address, tokens }: TokenListProps): JSX.Element {
  if (tokens.length === 0) return <p class="empty">There are none yet.</p>
  return (
    <ul class="list">
      {tokens.map(({ id, name, scopes, lastUsedAtMs, lastEight, limits }) => (
        <li>
          <Icon name="key" />
          <div class="grow">
            <strong>
              <Shown text={name} />
            </strong>{' '}
            <code>{`…${lastEight}`}</code>
            <p class="quiet">
              {`${scopes.join(', ')} · `}
              {lastUsedAtMs === undefined ? 'never used' : 'last used '}
              {lastUsedAtMs !== undefined && <Ago atMs={lastUsedAtMs} />}
              {limits?.expiresAtMs !== undefined && ' · ends '}
              {limits?.expiresAtMs !== undefined && <Ago atMs={limits.expiresAtMs} />}
            </p>
          </div>
          <form method="post" action={`${address}/delete`}>
            <input type="hidden" name="id" value={String(id)} />
            <button type="submit" class="danger" aria-label={`Revoke ${name}`}>
              Revoke
            </button>
          </form>
        </li>
      ))}
    </ul>
  )
}

function TokenForm({ address }: { readonly address: string }): JSX.Element {
  return (
    <form method="post" action={address}>
      <label for="name">Name</label>
      <input {...{ type: 'text', id: 'name', name: 'name', required: true, maxlength: 255 }} />
      <fieldset>
        <legend>It may be used for</legend>
        {SCOPES.map(([scope, sentence]) => (
          <label class="choice">
            <input type="checkbox" name="scope" value={scope} /> {sentence}
          </label>
        ))}
      </fieldset>
      <label for="expires">Ends after the day (empty: never)</label>
      <input type="date" id="expires" name="expires" />
      <button type="submit">Make a token</button>
    </form>
  )
}

async function answer(
  context: Context,
  request: Request,
  {
    user,
    status = 200,
    ...rest
  }: Omit<ApplicationsProps, 'context' | 'tokens'> & {
    readonly status?: number
  },
) {
  const { entries } = await listTokens(context.db, user.id, { page: 1, limit: LISTED })
  const page = <Applications {...{ context, user, tokens: entries, ...rest }} />
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
      if (name === '') throw new Failure('invalid', 'Give the token a name.')
      const limits = limitsOf(fieldOf(form, 'expires'))
      const wish = { userId: user.id, name, scopes: form.getAll('scope'), limits }
      const { plain } = await issueToken(context.db, wish)
      return await answer(context, request, { user, plain })
    }
    return orAgain(make, ({ message, status }) =>
      answer(context, request, { user, error: message, status }),
    )
  },
})

/** A day as the form sends it; the token ends with it, as clocks in UTC have it. */
function limitsOf(day: string) {
  if (day === '') return undefined
  const startMs = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : Number.NaN
  if (Number.isNaN(startMs)) throw new Failure('invalid', 'The last day is not a date.')
  const expiresAtMs = startMs + DAY_MS
  if (expiresAtMs <= Date.now()) throw new Failure('invalid', 'The last day is past.')
  return { expiresAtMs, addresses: [], reach: undefined }
}

const revoke = definePage<'signed-in'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const id = readId(fieldOf(await readForm(request), 'id'))
    if (id !== undefined) await deleteToken(context.db, user.id, id)
    return leadTo(context, PATH)
  },
})

export const APPLICATIONS_PAGES = [show, create, revoke]
