/** Account settings, OpenPGP keys: keys are listed, added and removed here. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import { type GpgKey, listGpgKeysOf, removeGpgKey } from '../../../sql/accounts/gpg-keys.js'
import type { User } from '../../../sql/accounts/users.js'
import { addSentGpgKey, gpgToken } from '../../actions/accounts/add-gpg-key.js'
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

const PATH = '/user/settings/gpg'

interface GpgKeysProps {
  readonly context: Context
  readonly user: User
  readonly keys: readonly GpgKey[]
  readonly form?: URLSearchParams
  readonly error?: string
}

function GpgKeys({ context, user, keys, form, error }: GpgKeysProps): JSX.Element {
  const address = context.settings.http.basePath + PATH
  return (
    <AccountDocument context={context} user={user} tab="gpg">
      <section>
        <h2>GPG keys</h2>
        <p class="quiet">
          Commits that are signed by any of these keys are shown as verified if their committer has
          one of your addresses. Signatures by your SSH keys count too.
        </p>
        <ErrorMessage error={error} />
        <KeyList address={address} keys={keys} />
        <h3>Add a key</h3>
        <form method="post" action={address}>
          <label for="key">Public key, as written by: gpg --armor --export</label>
          <textarea id="key" name="key" class="code" rows={6} required={true}>
            {form?.get('key') ?? ''}
          </textarea>
          <label for="signature">
            Signature of the token, if the key has none of your addresses (optional)
          </label>
          <textarea id="signature" name="signature" class="code" rows={4}>
            {form?.get('signature') ?? ''}
          </textarea>
          <p class="quiet">
            The token is valid for a minute:{' '}
            <code>{`echo "${gpgToken(user)}" | gpg --armor --detach-sign`}</code>
          </p>
          <button type="submit">Add the key</button>
        </form>
      </section>
    </AccountDocument>
  )
}

function KeyList({ address, keys }: { address: string; keys: readonly GpgKey[] }): JSX.Element {
  if (keys.length === 0) return <p class="empty">There are no GPG keys yet.</p>
  return (
    <ul class="list">
      {keys.map(({ id, details, addedAtMs }) => (
        <li>
          <Icon name="key" />
          <div class="grow">
            <strong>
              <code>{details.keyId}</code>
            </strong>
            <p class="quiet">
              <Shown text={details.emails.join(', ')} />
              {' · added '}
              <Ago atMs={addedAtMs} />
            </p>
          </div>
          <RemovalForm address={`${address}/delete`} id={id} label={`Remove ${details.keyId}`} />
        </li>
      ))}
    </ul>
  )
}

interface Shows extends Pick<GpgKeysProps, 'user' | 'form' | 'error'> {
  readonly status?: number
}

async function answer(context: Context, request: Request, { status = 200, ...rest }: Shows) {
  const keys = await listGpgKeysOf(context.db, [rest.user.id])
  return htmlReply(request, <GpgKeys context={context} keys={keys} {...rest} />, { status })
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
      await addSentGpgKey(context, user, {
        armoredKey: fieldOf(form, 'key'),
        armoredSignature: fieldOf(form, 'signature'),
      })
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
    if (id !== undefined) await removeGpgKey(context.db, user.id, id)
    return redirectTo(context, PATH)
  },
})

export const GPG_KEY_PAGES = [show, add, remove]
