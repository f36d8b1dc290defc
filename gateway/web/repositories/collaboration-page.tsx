/** Repository settings, Collaboration: collaborators and their permissions. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  COLLABORATOR_MODES,
  type CollaboratorMode,
  collaboratorModes,
  listCollaborators,
} from '../../../sql/repositories/collaborators.js'
import {
  addCollaborator,
  deleteCollaborator,
} from '../../actions/repositories/change-collaborators.js'
import { viewerOf } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { namedErrorMessage, SettingsDocument } from '../accounts/settings-document.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import {
  definePage,
  fieldOf,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { Pager } from '../kit/pager.js'

const PATH = '/{owner}/{repo}/settings/collaboration'
const ACCESS = { kind: 'repository', mode: 'admin' } as const
const LISTED = 50

const MODE_LABELS: Readonly<Record<CollaboratorMode, string>> = {
  read: 'Read',
  write: 'Write: push, and manage issues',
  admin: 'Admin: change these settings',
}

interface PeopleProps {
  readonly address: string
  readonly base: string
  readonly people: readonly User[]
  readonly modes: ReadonlyMap<number, CollaboratorMode>
}

function People({ address, base, people, modes }: PeopleProps): JSX.Element {
  if (people.length === 0) return <p class="empty">There are no collaborators yet.</p>
  return (
    <ul class="list">
      {people.map(({ id, name, fullName }) => (
        <li>
          <div class="grow">
            <a class="strong" href={`${base}/${name}`}>
              {name}
            </a>{' '}
            <Shown text={fullName} />
          </div>
          <form class="inline" method="post" action={address}>
            <input type="hidden" name="user" value={name} />
            <label class="unseen" for={`mode-${id}`}>{`Permission of ${name}`}</label>
            <Modes id={`mode-${id}`} chosen={modes.get(id) ?? 'read'} />
            <button type="submit" aria-label={`Change ${name}`}>
              Change
            </button>
          </form>
          <form method="post" action={`${address}/delete`}>
            <input type="hidden" name="user" value={name} />
            <button type="submit" class="danger" aria-label={`Remove ${name}`}>
              Remove
            </button>
          </form>
        </li>
      ))}
    </ul>
  )
}

interface ModesProps {
  readonly id: string
  readonly chosen: CollaboratorMode
}

function Modes({ id, chosen }: ModesProps): JSX.Element {
  return (
    <select id={id} name="mode">
      {COLLABORATOR_MODES.map((mode) => (
        <option value={mode} selected={mode === chosen}>
          {MODE_LABELS[mode]}
        </option>
      ))}
    </select>
  )
}

type Asked = Pick<Call<'repository'>, 'request' | 'grant'>

async function answer(context: Context, { request, grant }: Asked, failure?: Failure) {
  const page = { page: pageNumber(request), limit: LISTED }
  const repositoryId = grant.repository.id
  const search = { repositoryId, viewer: viewerOf(grant.who) }
  const { entries, total } = await listCollaborators(context.db, search, page)
  const ids = entries.map(({ id }) => id)
  const modes = await collaboratorModes(context.db, repositoryId, ids)
  const address = `${repositoryUrl(context, grant)}/settings/collaboration`
  const base = context.settings.http.basePath
  const error = failure && namedErrorMessage(failure)
  const document = (
    <SettingsDocument context={context} grant={grant} error={error} tab="collaboration">
      <People address={address} base={base} modes={modes} people={entries} />
      <Pager address={address} page={page} total={total} />
      <h3>Add a collaborator</h3>
      <form class="form" method="post" action={address}>
        <label for="user">Name</label>
        <input type="text" id="user" name="user" required={true} />
        <label for="mode">Permission</label>
        <Modes id="mode" chosen="write" />
        <button type="submit">Add</button>
      </form>
    </SettingsDocument>
  )
  return htmlReply(request, document, { status: failure?.status ?? 200 })
}

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: (context, call) => answer(context, call),
})

const change = definePage<'repository'>({
  method: 'POST',
  path: PATH,
  access: ACCESS,
  handle: (context, call) =>
    withFormErrors(
      async () => {
        const form = await readForm(call.request)
        const mode = COLLABORATOR_MODES.find((known) => known === fieldOf(form, 'mode'))
        if (mode === undefined)
          throw new Failure('invalid', 'The permission is missing or unknown. Choose a permission.')
        await addCollaborator(context.db, { ...inputOf(call, form), mode })
        return backTo(context, call)
      },
      (failure) => answer(context, call, failure),
    ),
})

const remove = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: ACCESS,
  handle: (context, call) =>
    withFormErrors(
      async () => {
        await deleteCollaborator(context.db, inputOf(call, await readForm(call.request)))
        return backTo(context, call)
      },
      (failure) => answer(context, call, failure),
    ),
})

function inputOf({ grant: { repository, user } }: Asked, form: URLSearchParams) {
  return { repository, viewer: user, name: fieldOf(form, 'user') }
}

function backTo(context: Context, { grant: { repository } }: Asked): Reply {
  return redirectTo(context, `/${repository.owner.name}/${repository.name}/settings/collaboration`)
}

export const COLLABORATION_PAGES = [show, change, remove]
