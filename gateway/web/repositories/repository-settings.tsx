/** Repository settings, General: name, description, visibility, features and dangerous actions. */

import type { JSX } from 'preact/jsx-runtime'
import type { Reply } from '../../../conf/http.js'
import { atLeast } from '../../../sql/repositories/access.js'
import {
  deletePendingTransfer,
  findPendingTransfer,
} from '../../../sql/repositories/pending-transfers.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { deleteWholeRepository } from '../../actions/repositories/delete-repository.js'
import {
  DESCRIPTION_CHARACTERS_MAX,
  editRepository,
  WEBSITE_CHARACTERS_MAX,
} from '../../actions/repositories/edit-repository.js'
import { releaseCommit } from '../../actions/repositories/prune-repository.js'
import { transferToOwner } from '../../actions/repositories/transfer-repository.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { namedErrorMessage, SettingsDocument } from '../accounts/settings-document.js'
import { refuseUnconfirmed } from '../kit/confirmation.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { DangerZone, fullNameOf } from './danger-zone.js'

const PATH = '/{owner}/{repo}/settings'
const ACCESS = { kind: 'repository', mode: 'admin' } as const

interface Part {
  /** Name of the preference. */
  readonly name: string
  readonly label: string
  readonly isDefault: boolean
}

/** Optional features. */
const PARTS: readonly Part[] = [
  { name: 'has_issues', label: 'Issues', isDefault: true },
  { name: 'has_pull_requests', label: 'Pull requests', isDefault: true },
  { name: 'has_releases', label: 'Releases', isDefault: true },
  { name: 'has_wiki', label: 'Wiki', isDefault: true },
]

const ACTIONS: readonly Part[] = [
  { name: 'has_actions', label: 'Actions', isDefault: false },
  {
    name: 'actions_token_writes',
    label: 'Jobs of Actions may write, unless their workflow has permissions',
    isDefault: false,
  },
]

/** Returns the features that the site permits. */
function partsOf({ settings }: Context): readonly Part[] {
  return settings.actions.isEnabled ? [...PARTS, ...ACTIONS] : PARTS
}

/** Fields of the form. */
type Fields = Pick<
  Repository,
  | ('name' | 'description' | 'website' | 'defaultBranch' | 'preferences')
  | ('isPrivate' | 'isTemplate' | 'isArchived')
>

function readFields(form: URLSearchParams, parts: readonly Part[]): Fields {
  return {
    name: fieldOf(form, 'name'),
    description: fieldOf(form, 'description'),
    website: fieldOf(form, 'website'),
    defaultBranch: fieldOf(form, 'default_branch'),
    isPrivate: form.has('private'),
    isTemplate: form.has('template'),
    isArchived: form.has('archived'),
    preferences: Object.fromEntries(parts.map(({ name }) => [name, form.has(name)])),
  }
}

interface GeneralFormProps {
  readonly address: string
  readonly fields: Fields
  readonly parts: readonly Part[]
}

function GeneralForm({ address, fields, parts }: GeneralFormProps): JSX.Element {
  const { name, description, website, defaultBranch, preferences } = fields
  const text = (id: string, value: string, maxlength: number) => {
    return { type: 'text', id, name: id, value, maxlength } as const
  }
  return (
    <form class="form" method="post" action={address}>
      <label for="name">Name</label>
      <input {...text('name', name, 100)} required={true} />
      <label for="description">Description</label>
      <input {...text('description', description, DESCRIPTION_CHARACTERS_MAX)} />
      <label for="website">Website</label>
      <input {...text('website', website, WEBSITE_CHARACTERS_MAX)} />
      <label for="default_branch">Default branch</label>
      <input {...text('default_branch', defaultBranch, 100)} required={true} />
      <Choice name="private" isChosen={fields.isPrivate}>
        Private: visible only to users with access
      </Choice>
      <Choice name="template" isChosen={fields.isTemplate}>
        Template: users can create repositories from its files
      </Choice>
      <Choice name="archived" isChosen={fields.isArchived}>
        Archived: read-only
      </Choice>
      <fieldset>
        <legend>Features</legend>
        {parts.map(({ name, label, isDefault }) => (
          <Choice name={name} isChosen={(preferences[name] ?? isDefault) === true}>
            {label}
          </Choice>
        ))}
      </fieldset>
      <button type="submit">Save</button>
    </form>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly isChosen: boolean
  readonly children?: string
}

function Choice({ name, isChosen, children }: ChoiceProps): JSX.Element {
  return (
    <label class="choice">
      <input type="checkbox" name={name} checked={isChosen} /> {children}
    </label>
  )
}

interface Shown {
  readonly fields?: Fields
  readonly error?: string
  readonly status?: number
  /** Message about an operation that was started. */
  readonly notice?: string
}

async function answer(
  context: Context,
  { request, grant }: Pick<Call<'repository'>, 'request' | 'grant'>,
  { fields = grant.repository, error, status = 200, notice }: Shown = {},
): Promise<Reply> {
  const pending = await findPendingTransfer(context.db, grant.repository.id)
  const address = `${repositoryUrl(context, grant)}/settings`
  const page = (
    <SettingsDocument context={context} grant={grant} error={error} tab="general">
      {notice !== undefined && <p class="notice">{notice}</p>}
      <GeneralForm address={address} fields={fields} parts={partsOf(context)} />
      <DangerZone
        address={address}
        repository={grant.repository}
        isOwner={atLeast(grant.mode, 'owner')}
        isOffered={pending !== undefined}
      />
    </SettingsDocument>
  )
  return htmlReply(request, page, { status })
}

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: answer,
})

const save = definePage<'repository'>({
  method: 'POST',
  path: PATH,
  access: ACCESS,
  async handle(context, call) {
    const { request, grant } = call
    const fields = readFields(await readForm(request), partsOf(context))
    const change = async () => {
      const { owner, name } = await editRepository(context, grant.repository, fields)
      return redirectTo(context, `/${owner.name}/${name}/settings`)
    }
    return withFormErrors(change, ({ message, status }) =>
      answer(context, call, { fields, error: message, status }),
    )
  },
})

/** Defines a form target that requires the name of the repository as confirmation. */
function dangerousPage(
  action: 'transfer' | 'delete' | 'prune',
  work: (context: Context, call: Call<'repository'>, form: URLSearchParams) => Promise<Reply>,
): AnyRoute {
  return definePage<'repository'>({
    method: 'POST',
    path: `${PATH}/${action}`,
    access: { ...ACCESS, mode: action === 'prune' ? 'admin' : 'owner' },
    async handle(context, call) {
      const form = await readForm(call.request)
      const confirmed = () => {
        refuseUnconfirmed(form, fullNameOf(call.grant.repository))
        return work(context, call, form)
      }
      return withFormErrors(
        async () => confirmed(),
        (failure) =>
          answer(context, call, { error: namedErrorMessage(failure), status: failure.status }),
      )
    },
  })
}

const transfer = dangerousPage('transfer', async (context, { grant }, form) => {
  const newOwner = fieldOf(form, 'new_owner')
  const { repository, modes } = await transferToOwner(context, grant.who, {
    repository: grant.repository,
    newOwner,
  })
  // The page of a repository whose transfer is pending shows that.
  const { owner, name } = repository
  return redirectTo(context, modes.any === 'none' ? '/' : `/${owner.name}/${name}`)
})

const cancelTransfer = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/transfer/delete`,
  access: { ...ACCESS, mode: 'owner' },
  async handle(context, call) {
    const isCanceled = await deletePendingTransfer(context.db, call.grant.repository.id)
    return answer(context, call, { notice: isCanceled ? CANCELED : 'No transfer is pending.' })
  },
})

const CANCELED = 'The transfer is canceled.'

const remove = dangerousPage('delete', async (context, { grant }) => {
  const { repository, user } = grant
  await deleteWholeRepository(context, { repository, actor: user ?? repository.owner })
  return redirectTo(context, `/${repository.owner.name}`)
})

const prune = dangerousPage('prune', async (context, call, form) => {
  const { request, grant } = call
  const { repository } = grant
  const order = {
    commit: fieldOf(form, 'commit') || undefined,
    graceMs: form.has('now') ? 0 : undefined,
  }
  const dropsClosedPulls = form.has('closed_pulls')
  await inQueue(context, { request, grant }, () =>
    releaseCommit(context, repository, { ...order, dropsClosedPulls }),
  )
  await context.upkeep.enqueuePrune({ repositoryId: repository.id, ...order })
  return answer(context, call, { notice: PRUNING })
})

const PRUNING =
  'The repository is being pruned. This takes seconds, or minutes for a large repository.'

export const REPOSITORY_SETTINGS_PAGES = [show, save, transfer, cancelTransfer, remove, prune]
