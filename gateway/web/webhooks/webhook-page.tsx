/** Page of a repository's webhook: form, test, removal and deliveries. */

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
import type { Context } from '../../request/context.js'
import type { AnyRoute, Call } from '../../request/route.js'
import { testWebhook } from '../../webhooks/test-webhook.js'
import { SettingsDocument } from '../accounts/settings-document.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { Deliveries } from './webhook-deliveries.js'
import { HookForm, readHookForm, sentFields } from './webhook-form.js'

const PATH = '/{owner}/{repo}/settings/hooks/{id}'
const ACCESS = { kind: 'repository', mode: 'admin' } as const
const DELIVERIES_SHOWN = 20

type RepositoryCall = Call<'repository'>

interface HookCall {
  readonly call: RepositoryCall
  readonly webhook: Webhook
}

interface Sent {
  readonly fields?: WebhookFields
  readonly failure: Failure
}

async function answer(context: Context, { call, webhook }: HookCall, sent?: Sent): Promise<Reply> {
  const { request, grant } = call
  const deliveries = await listDeliveries(context.db, webhook.id, DELIVERIES_SHOWN)
  const address = `${repositoryUrl(context, grant)}/settings/hooks/${webhook.id}`
  const document = (
    <SettingsDocument context={context} grant={grant} error={sent?.failure.message} tab="hooks">
      <HookForm address={address} fields={sent?.fields ?? webhook} button="Save" />
      <h3>Test or remove</h3>
      <div class="inline">
        <PlainForm address={`${address}/test`} word="Send a test" />
        <PlainForm address={`${address}/delete`} word="Remove this webhook" isDangerous={true} />
      </div>
      <h3>{`The last ${DELIVERIES_SHOWN} deliveries`}</h3>
      <Deliveries address={address} deliveries={deliveries} />
    </SettingsDocument>
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

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: async (context, call) =>
    answer(context, { call, webhook: await webhookOf(context, call) }),
})

function webhookOf(context: Context, { grant, params }: RepositoryCall): Promise<Webhook> {
  return namedWebhook(context, { repositoryId: grant.repository.id }, params)
}

/** Defines a form target that runs `work` and redirects to the path below `hooks` it returns. */
function hookPage(
  path: string,
  work: (context: Context, hook: HookCall, form: URLSearchParams) => Promise<string | undefined>,
): AnyRoute {
  return definePage<'repository'>({
    method: 'POST',
    path: PATH + path,
    access: ACCESS,
    async handle(context, call) {
      const form = await readForm(call.request)
      const webhook = await webhookOf(context, call)
      const { owner, name } = call.grant.repository
      const hooks = `/${owner.name}/${name}/settings/hooks`
      const run = async () => {
        const part = await work(context, { call, webhook }, form)
        return redirectTo(context, hooks + (part ?? `/${webhook.id}`))
      }
      return withFormErrors(run, (failure) => {
        const fields = path === '' ? { fields: sentFields(webhook, form) } : {}
        return answer(context, { call, webhook }, { ...fields, failure })
      })
    },
  })
}

const save = hookPage('', async (context, { webhook }, form) => {
  const fields = await readWebhook(context, webhook, readHookForm(form))
  await updateWebhook(context.db, webhook.id, fields)
  return undefined
})

const test = hookPage('/test', async (context, { call, webhook }) => {
  const { repository, user } = call.grant
  if (await testWebhook(context, { repository, user, webhook })) return undefined
  throw new Failure('invalid', 'The repository has no commit to send. Push one first.')
})

const again = hookPage('/redeliver', async (context, { webhook }, form) => {
  const isThere = await redeliver(context.db, {
    uuid: fieldOf(form, 'uuid'),
    webhookId: webhook.id,
  })
  if (!isThere) throw new Failure('not_found', 'The delivery no longer exists.')
  context.upkeep.pollDeliveries()
  return undefined
})

const remove = hookPage('/delete', async (context, { webhook }) => {
  await deleteWebhook(context.db, webhook.place, webhook.id)
  return ''
})

export const HOOK_PAGES = [show, save, test, again, remove]
