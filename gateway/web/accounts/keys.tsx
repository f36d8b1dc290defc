/** Account settings, SSH keys: keys are listed, added and removed here. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import {
  addUserKey,
  listUserKeys,
  removeUserKey,
  type UserKey,
} from '../../../sql/accounts/keys.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Page, Paged } from '../../../sql/database/page.js'
import { KEY_TITLE_CHARACTERS_MAX, readKey } from '../../actions/accounts/read-key.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
import {
  definePage,
  fieldOf,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { ErrorMessage } from '../kit/problem.js'
import { RemovalForm } from '../kit/removal-form.js'
import { TextField } from '../kit/text-field.js'
import { Ago } from '../kit/times.js'
import { AccountDocument } from './account-document.js'

const PATH = '/user/settings/keys'
const LISTED = 50

interface KeysProps {
  readonly context: Context
  readonly user: User
  readonly page: Page
  readonly keys: Paged<UserKey>
  readonly form?: URLSearchParams
  readonly error?: string
}

function Keys({ context, user, page, keys, form, error }: KeysProps): JSX.Element {
  const address = context.settings.http.basePath + PATH
  return (
    <AccountDocument context={context} user={user} tab="keys">
      <section>
        <h2>SSH keys</h2>
        <p class="quiet">
          Git over SSH signs in to your account with the private key of any of these.
        </p>
        <ErrorMessage error={error} />
        <KeyList address={address} keys={keys.entries} />
        <Pager address={address} page={page} total={keys.total} />
        <h3>Add a key</h3>
        <form method="post" action={address}>
          <TextField
            label="Title"
            name="title"
            isRequired={true}
            charactersMax={KEY_TITLE_CHARACTERS_MAX}
            value={form?.get('title') ?? ''}
          />
          <label for="key">Public key: the line in the file that ends in .pub</label>
          <textarea id="key" name="key" class="code" rows={4} required={true}>
            {form?.get('key') ?? ''}
          </textarea>
          <button type="submit">Add the key</button>
        </form>
      </section>
    </AccountDocument>
  )
}

interface KeyListProps {
  readonly address: string
  readonly keys: readonly UserKey[]
}

function KeyList({ address, keys }: KeyListProps): JSX.Element {
  if (keys.length === 0) return <p class="empty">There are no SSH keys yet.</p>
  return (
    <ul class="list">
      {keys.map(({ id, title, key, createdAtMs, lastUsedAtMs }) => (
        <li>
          <Icon name="key" />
          <div class="grow">
            <strong>
              <Shown text={title} />
            </strong>
            <p class="quiet">
              <code>{`${key.algorithm} ${key.fingerprint}`}</code>
              {' · added '}
              <Ago atMs={createdAtMs} />
              {lastUsedAtMs === undefined ? ' · never used' : ' · last used '}
              {lastUsedAtMs !== undefined && <Ago atMs={lastUsedAtMs} />}
            </p>
          </div>
          <RemovalForm address={`${address}/delete`} id={id} label={`Remove ${title}`} />
        </li>
      ))}
    </ul>
  )
}

interface Shows extends Pick<KeysProps, 'user' | 'form' | 'error'> {
  readonly status?: number
}

async function answer(context: Context, request: Request, { status = 200, ...rest }: Shows) {
  const page = { page: pageNumber(request), limit: LISTED }
  const keys = await listUserKeys(context.db, rest.user.id, { page })
  return htmlReply(request, <Keys context={context} page={page} keys={keys} {...rest} />, {
    status,
  })
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) => answer(context, request, { user }),
})

const add = definePage<'signed-in'>({
  method: 'POST',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const give = async () => {
      const sent = readKey({ title: fieldOf(form, 'title'), key: fieldOf(form, 'key') })
      await addUserKey(context.db, { userId: user.id, ...sent })
      return redirectTo(context, PATH)
    }
    return withFormErrors(give, ({ message, status }) =>
      answer(context, request, { user, form, error: message, status }),
    )
  },
})

const remove = definePage<'signed-in'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const id = readId(fieldOf(await readForm(request), 'id'))
    if (id !== undefined) await removeUserKey(context.db, user.id, id)
    return redirectTo(context, PATH)
  },
})

export const KEY_PAGES = [show, add, remove]
