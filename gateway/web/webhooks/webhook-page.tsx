/** Pages of a webhook: form, test, removal and deliveries. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { listDeliveries, redeliver } from '../../../sql/webhooks/webhook-deliveries.js'
import {
  deleteWebhook,
  updateWebhook,
  type Webhook,
  type WebhookFields,
} from '../../../sql/webhooks/webhooks.js'
import { namedWebhook, readWebhook } from '../../actions/webhooks/webhook-input.js'
import type { AccessKind } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import type { HookPages } from './hook-pages.js'
import { Deliveries } from './webhook-deliveries.js'
import { HookForm, readHookForm, sentFields } from './webhook-form.js'

const DELIVERIES_SHOWN = 20

interface HookCall<K extends AccessKind> {
  readonly call: Call<K>
  readonly webhook: Webhook
}

interface Sent {
  readonly fields?: WebhookFields
  readonly failure: Failure
}

async function answer<K extends AccessKind>(
  context: Context,
  pages: HookPages<K>,
  { call, webhook, sent }: HookCall<K> & { readonly sent?: Sent },
): Promise<Reply> {
  const { request, grant } = call
  const deliveries = await listDeliveries(context.db, webhook.id, DELIVERIES_SHOWN)
  const address = `${context.settings.http.basePath}${pages.pathOf(grant)}/${webhook.id}`
  const Document = pages.document
  const document = (
    <Document context={context} call={call} error={sent?.failure.message}>
      <HookForm address={address} fields={sent?.fields ?? webhook} button="Save" />
      <h3>{pages.test === undefined ? 'Remove' : 'Test or remove'}</h3>
      <div class="inline">
        {pages.test && <PlainForm address={`${address}/test`} word="Send a test" />}
        <PlainForm address={`${address}/delete`} word="Remove this webhook" isDangerous={true} />
      </div>
      <h3>{`The last ${DELIVERIES_SHOWN} deliveries`}</h3>
      <Deliveries address={address} deliveries={deliveries} />
    </Document>
  )
  return htmlReply(request, document, { status: sent?.failure.status ?? 200 })
}

interface PlainFormProps {
  readonly address: string
  readonly word: string
  readonly isDangerous?: boolean
}

function PlainForm({ address, word, isDangerous = false }: PlainFormProps): JSX.Element {
  return (
    <form method="post" action={address}>
      <button type="submit" {...(isDangerous ? { class: 'danger' } : {})}>
        {word}
      </button>
    </form>
  )
}

/** Returns the routes of a webhook. */
export function hookPages<K extends AccessKind>(pages: HookPages<K>): readonly AnyRoute[] {
  const { test } = pages
  const webhookOf = (context: Context, { grant, params }: Call<K>) =>
    namedWebhook(context, pages.placeOf(grant), params)
  const show = definePage<K>({
    method: 'GET',
    path: `${pages.path}/{id}`,
    access: pages.access,
    handle: async (context, call) =>
      answer(context, pages, { call, webhook: await webhookOf(context, call) }),
  })

  /** Defines a form target that runs `work` and redirects to the webhook, or to the list. */
  const target = (
    path: string,
    work: (context: Context, hook: HookCall<K>, form: URLSearchParams) => Promise<void>,
    after: 'webhook' | 'list' = 'webhook',
  ): AnyRoute =>
    definePage<K>({
      method: 'POST',
      path: `${pages.path}/{id}${path}`,
      access: pages.access,
      async handle(context, call) {
        const form = await readForm(call.request)
        const webhook = await webhookOf(context, call)
        const run = async () => {
          await work(context, { call, webhook }, form)
          const list = pages.pathOf(call.grant)
          return redirectTo(context, after === 'list' ? list : `${list}/${webhook.id}`)
        }
        return withFormErrors(run, (failure) => {
          const fields = path === '' ? { fields: sentFields(webhook, form) } : {}
          return answer(context, pages, { call, webhook, sent: { ...fields, failure } })
        })
      },
    })

  const routes = [
    show,
    target('', (context, { webhook }, form) => save(context, webhook, form)),
    target('/redeliver', (context, { webhook }, form) => sendAgain(context, webhook, form)),
    target('/delete', (context, { webhook }) => remove(context, webhook), 'list'),
  ]
  if (test === undefined) return routes
  const send = target('/test', async (context, { call, webhook }) => {
    if (await test(context, call.grant, webhook)) return
    throw new Failure('invalid', 'The repository has no commit to send. Push one first.')
  })
  return [...routes, send]
}

async function save(context: Context, webhook: Webhook, form: URLSearchParams): Promise<void> {
  const fields = await readWebhook(context, webhook, readHookForm(form))
  await updateWebhook(context.db, webhook.id, fields)
}

async function remove({ db }: Context, { place, id }: Webhook): Promise<void> {
  await deleteWebhook(db, place, id)
}

async function sendAgain(context: Context, { id }: Webhook, form: URLSearchParams): Promise<void> {
  const isThere = await redeliver(context.db, { uuid: fieldOf(form, 'uuid'), webhookId: id })
  if (!isThere) throw new Failure('not_found', 'The delivery no longer exists.')
  context.upkeep.pollDeliveries()
}
