/** Pages with the webhooks of a place: list and form for a new webhook. */

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
import type { AccessKind } from '../../auth/authorize.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import { definePage, pageNumber, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import type { HookPages } from './hook-pages.js'
import { FIRST_FIELDS, HookForm, readHookForm, sentFields } from './webhook-form.js'

const LISTED = 50

interface HooksProps {
  readonly address: string
  readonly webhooks: readonly Webhook[]
}

function Hooks({ address, webhooks }: HooksProps): JSX.Element {
  if (webhooks.length === 0) return <p class="empty">There are no webhooks yet.</p>
  return (
    <ul class="list">
      {webhooks.map(({ id, url, events, isActive, target }) => (
        <li>
          <div class="grow">
            <a class="strong" href={`${address}/${id}`}>
              <Shown text={url} />
            </a>
            <p class="quiet">{events.join(', ').replaceAll('_', ' ')}</p>
          </div>
          {target === 'default' && <span class="label">copied into new repositories</span>}
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

async function answer<K extends AccessKind>(
  context: Context,
  pages: HookPages<K>,
  { call, sent }: { readonly call: Pick<Call<K>, 'request' | 'grant'>; readonly sent?: Sent },
): Promise<Reply> {
  const { request, grant } = call
  const page = { page: pageNumber(request), limit: LISTED }
  const { entries, total } = await listWebhooks(context.db, pages.placeOf(grant), page)
  const address = context.settings.http.basePath + pages.pathOf(grant)
  const Document = pages.document
  const document = (
    <Document context={context} call={call} error={sent?.failure.message}>
      <Hooks address={address} webhooks={entries} />
      <Pager address={address} page={page} total={total} />
      <h3>New webhook</h3>
      <HookForm address={address} fields={sent?.fields ?? FIRST_FIELDS} button="Create webhook">
        {pages.placeFields}
      </HookForm>
    </Document>
  )
  return htmlReply(request, document, { status: sent?.failure.status ?? 200 })
}

/** Returns the routes of the list. */
export function hookListPages<K extends AccessKind>(pages: HookPages<K>): readonly AnyRoute[] {
  const { path, access } = pages
  const show = definePage<K>({
    method: 'GET',
    path,
    access,
    handle: (context, call) => answer(context, pages, { call }),
  })
  const make = definePage<K>({
    method: 'POST',
    path,
    access,
    async handle(context, call) {
      const { grant } = call
      const form = await readForm(call.request)
      const create = async () => {
        const fields = await readWebhook(context, NEW_WEBHOOK, readHookForm(form))
        const { id } = await createWebhook(context.db, pages.newPlaceOf(grant, form), fields)
        return redirectTo(context, `${pages.pathOf(grant)}/${id}`)
      }
      return withFormErrors(create, (failure) => {
        const sent = { fields: sentFields(NEW_WEBHOOK, form), failure }
        return answer(context, pages, { call, sent })
      })
    },
  })
  return [show, make]
}
