/** Repository settings, Webhooks: list and form for a new webhook. */

import type { JSX } from 'preact/jsx-runtime'
import type { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import {
  createWebhook,
  listWebhooks,
  type Webhook,
  type WebhookFields,
} from '../../../sql/webhooks/webhooks.js'
import { NEW_WEBHOOK, readWebhook } from '../../actions/webhooks/webhook-input.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { SettingsDocument } from '../accounts/settings-document.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, pageNumber, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { FIRST_FIELDS, HookForm, readHookForm, sentFields } from './webhook-form.js'

const PATH = '/{owner}/{repo}/settings/hooks'
const ACCESS = { kind: 'repository', mode: 'admin' } as const
const LISTED = 50

interface HooksProps {
  readonly address: string
  readonly webhooks: readonly Webhook[]
}

function Hooks({ address, webhooks }: HooksProps): JSX.Element {
  if (webhooks.length === 0) return <p class="empty">There are no webhooks yet.</p>
  return (
    <ul class="list">
      {webhooks.map(({ id, url, events, isActive }) => (
        <li>
          <div class="grow">
            <a class="strong" href={`${address}/${id}`}>
              <Shown text={url} />
            </a>
            <p class="quiet">{events.join(', ').replaceAll('_', ' ')}</p>
          </div>
          <span class="label">{isActive ? 'active' : 'inactive'}</span>
        </li>
      ))}
    </ul>
  )
}

interface Sent {
  readonly fields: WebhookFields
  readonly failure: Failure
}

async function answer(
  context: Context,
  { request, grant }: Pick<Call<'repository'>, 'request' | 'grant'>,
  sent?: Sent,
): Promise<Reply> {
  const page = { page: pageNumber(request), limit: LISTED }
  const place = { repositoryId: grant.repository.id }
  const { entries, total } = await listWebhooks(context.db, place, page)
  const address = `${repositoryUrl(context, grant)}/settings/hooks`
  const document = (
    <SettingsDocument context={context} grant={grant} error={sent?.failure.message} tab="hooks">
      <Hooks address={address} webhooks={entries} />
      <Pager address={address} page={page} total={total} />
      <h3>New webhook</h3>
      <HookForm address={address} fields={sent?.fields ?? FIRST_FIELDS} button="Create webhook" />
    </SettingsDocument>
  )
  return htmlReply(request, document, { status: sent?.failure.status ?? 200 })
}

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: (context, call) => answer(context, call),
})

const make = definePage<'repository'>({
  method: 'POST',
  path: PATH,
  access: ACCESS,
  async handle(context, call) {
    const { owner, name, id: repositoryId } = call.grant.repository
    const form = await readForm(call.request)
    const create = async () => {
      const fields = await readWebhook(context, NEW_WEBHOOK, readHookForm(form))
      const { id } = await createWebhook(context.db, { repositoryId }, fields)
      return redirectTo(context, `/${owner.name}/${name}/settings/hooks/${id}`)
    }
    return withFormErrors(create, (failure) =>
      answer(context, call, { fields: sentFields(NEW_WEBHOOK, form), failure }),
    )
  },
})

export const HOOKS_PAGES = [show, make]
