/** Repository settings, Deploy keys: SSH keys of machines with read or write access. */

import type { JSX } from 'preact/jsx-runtime'
import type { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  addDeployKey,
  type DeployKey,
  listDeployKeys,
  removeDeployKey,
} from '../../../sql/repositories/deploy-keys.js'
import { KEY_TITLE_CHARACTERS_MAX, readKey } from '../../actions/accounts/read-key.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { SettingsDocument } from '../accounts/settings-document.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
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
import { RemovalForm } from '../kit/removal-form.js'
import { Ago } from '../kit/times.js'

const PATH = '/{owner}/{repo}/settings/keys'
const ACCESS = { kind: 'repository', mode: 'admin' } as const
const LISTED = 50

interface KeysProps {
  readonly address: string
  readonly keys: readonly DeployKey[]
}

function Keys({ address, keys }: KeysProps): JSX.Element {
  if (keys.length === 0) return <p class="empty">There are no deploy keys yet.</p>
  return (
    <ul class="list">
      {keys.map(({ id, title, mode, key, createdAtMs }) => (
        <li>
          <Icon name="key" />
          <div class="grow">
            <strong>
              <Shown text={title} />
            </strong>{' '}
            <span class="label">{mode === 'read' ? 'read-only' : 'read and write'}</span>
            <p class="quiet">
              <code>{key.fingerprint}</code> added <Ago atMs={createdAtMs} />
            </p>
          </div>
          <RemovalForm address={`${address}/delete`} id={id} label={`Remove ${title}`} />
        </li>
      ))}
    </ul>
  )
}

function KeyForm({ address, sent }: { readonly address: string; readonly sent: URLSearchParams }) {
  return (
    <form class="form" method="post" action={address}>
      <label for="title">Title</label>
      <input
        type="text"
        id="title"
        name="title"
        required={true}
        maxlength={KEY_TITLE_CHARACTERS_MAX}
        value={fieldOf(sent, 'title')}
      />
      <label for="key">Public key: the line of the file that ends in .pub</label>
      <textarea id="key" name="key" class="code" rows={4} required={true}>
        {fieldOf(sent, 'key')}
      </textarea>
      <label class="choice">
        <input type="checkbox" name="write" checked={sent.has('write')} /> Allow write access (push)
      </label>
      <button type="submit">Add the key</button>
    </form>
  )
}

type Asked = Pick<Call<'repository'>, 'request' | 'grant'>

async function answer(
  context: Context,
  { request, grant }: Asked,
  { sent, failure }: { readonly sent?: URLSearchParams; readonly failure?: Failure } = {},
): Promise<Reply> {
  const page = { page: pageNumber(request), limit: LISTED }
  const { entries, total } = await listDeployKeys(context.db, grant.repository.id, { page })
  const address = `${repositoryUrl(context, grant)}/settings/keys`
  const document = (
    <SettingsDocument context={context} grant={grant} error={failure?.message} tab="keys">
      <p class="quiet">A machine with one of these SSH keys can clone this repository.</p>
      <Keys address={address} keys={entries} />
      <Pager address={address} page={page} total={total} />
      <h3>Add a key</h3>
      <KeyForm address={address} sent={sent ?? new URLSearchParams()} />
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

const add = definePage<'repository'>({
  method: 'POST',
  path: PATH,
  access: ACCESS,
  async handle(context, call) {
    const sent = await readForm(call.request)
    const addKey = async () => {
      await addDeployKey(context.db, {
        repositoryId: call.grant.repository.id,
        ...readKey({ title: fieldOf(sent, 'title'), key: fieldOf(sent, 'key') }),
        mode: sent.has('write') ? 'write' : 'read',
      })
      return backTo(context, call)
    }
    return withFormErrors(addKey, (failure) => answer(context, call, { sent, failure }))
  },
})

const remove = definePage<'repository'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: ACCESS,
  async handle(context, call) {
    const id = readId(fieldOf(await readForm(call.request), 'id'))
    if (id !== undefined) await removeDeployKey(context.db, call.grant.repository.id, id)
    return backTo(context, call)
  },
})

function backTo(context: Context, { grant: { repository } }: Asked): Reply {
  return redirectTo(context, `/${repository.owner.name}/${repository.name}/settings/keys`)
}

export const DEPLOY_KEYS_PAGES = [show, add, remove]
