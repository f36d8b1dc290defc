/** Account settings, Sessions: lists the sessions of the account and ends them. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import {
  deleteOtherSessions,
  deleteSession,
  listSessions,
  type Session,
} from '../../../sql/accounts/sessions.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Page, Paged } from '../../../sql/database/page.js'
import { readId } from '../../auth/refusals.js'
import { findOwnSession } from '../../auth/session.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, pageNumber, readForm, redirectTo } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RemovalForm } from '../kit/removal-form.js'
import { Ago } from '../kit/times.js'
import { AccountDocument } from './account-document.js'

const PATH = '/user/settings/sessions'
const LISTED = 50

interface SessionsProps {
  readonly context: Context
  readonly user: User
  readonly page: Page
  readonly sessions: Paged<Session>
  /** Id of the session that the request belongs to. */
  readonly ownId: number | undefined
}

function Sessions({ context, user, page, sessions, ownId }: SessionsProps): JSX.Element {
  const address = context.settings.http.basePath + PATH
  return (
    <AccountDocument context={context} user={user} tab="sessions">
      <section>
        <h2>Sessions</h2>
        <p class="quiet">
          Browsers that are signed in to your account. If you do not recognize one, end its session
          and change your password.
        </p>
        <ul class="list">
          {sessions.entries.map((session) => (
            <li>
              <SessionLine session={session} isOwn={session.id === ownId} />
              {session.id !== ownId && <EndForm address={address} session={session} />}
            </li>
          ))}
        </ul>
        <Pager address={address} page={page} total={sessions.total} />
        {sessions.total > 1 && (
          <form method="post" action={`${address}/delete-others`}>
            <button type="submit">End all other sessions</button>
          </form>
        )}
      </section>
    </AccountDocument>
  )
}

interface SessionLineProps {
  readonly session: Session
  readonly isOwn: boolean
}

function SessionLine({ session, isOwn }: SessionLineProps): JSX.Element {
  return (
    <div class="grow">
      <strong>{session.address}</strong>
      {isOwn && <span class="label">this session</span>}
      <p class="quiet">
        <Shown text={session.agent === '' ? 'Unknown client' : session.agent} />
        {' · started '}
        <Ago atMs={session.createdAtMs} />
        {' · last used '}
        <Ago atMs={session.lastUsedAtMs} />
      </p>
    </div>
  )
}

interface EndFormProps {
  readonly address: string
  readonly session: Session
}

function EndForm({ address, session }: EndFormProps): JSX.Element {
  const label = `End the session from ${session.address} with ${session.agent}`
  return <RemovalForm address={`${address}/delete`} id={session.id} word="End" label={label} />
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const page = { page: pageNumber(request), limit: LISTED }
    const sessions = await listSessions(context.db, user.id, page)
    const ownId = (await findOwnSession(context, request))?.session.id
    return htmlReply(
      request,
      <Sessions context={context} user={user} page={page} sessions={sessions} ownId={ownId} />,
    )
  },
})

const end = definePage<'signed-in'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const id = readId(fieldOf(await readForm(request), 'id'))
    if (id !== undefined) await deleteSession(context.db, user.id, id)
    return redirectTo(context, PATH)
  },
})

const endOthers = definePage<'signed-in'>({
  method: 'POST',
  path: `${PATH}/delete-others`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const own = await findOwnSession(context, request)
    if (own === undefined) throw notFound()
    await deleteOtherSessions(context.db, user.id, own.session.id)
    return redirectTo(context, PATH)
  },
})

export const SESSION_PAGES = [show, end, endOthers]
