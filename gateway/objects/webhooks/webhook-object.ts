/** The Hook of this API, and the bodies that create and edit one. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { hookService } from '../../../conf/hook-services.js'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import type { Webhook, WebhookFields } from '../../../sql/webhooks/webhooks.js'
import {
  BRANCH_FILTER_CHARACTERS_MAX,
  HOOK_TEXT_CHARACTERS_MAX,
  NEW_WEBHOOK,
  readWebhook,
  type WebhookInput,
} from '../../actions/webhooks/webhook-input.js'
import { AUTHORIZATION_SEAL_CONTEXT } from '../../outbound/delivery-request.js'
import type { Context } from '../../request/context.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

/**
 * Returns the schema of an object with string values. TypeBox's records use a keyword that Swagger
 * 2.0 does not have.
 */
function mapOf(value: object, options: { readonly $id?: string } = {}) {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: value,
    ...options,
  })
}

export const HOOK = Type.Object(
  {
    id: Type.Integer(),
    type: Type.String(),
    branch_filter: Type.String(),
    config: mapOf({ type: 'string' }),
    events: Type.Array(Type.String()),
    authorization_header: Type.String(),
    active: Type.Boolean(),
    updated_at: TIME,
    created_at: TIME,
  },
  { $id: 'Hook' },
)

const BRANCH_FILTER = Type.String({ maxLength: BRANCH_FILTER_CHARACTERS_MAX })
const AUTHORIZATION = Type.String({ maxLength: HOOK_TEXT_CHARACTERS_MAX })
const EVENTS = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })
const CONFIG_TEXT = Type.String({ maxLength: HOOK_TEXT_CHARACTERS_MAX })

export const CREATE_HOOK_OPTION = Type.Object(
  {
    type: Type.String(),
    config: mapOf(CONFIG_TEXT, { $id: 'CreateHookOptionConfig' }),
    events: Type.Optional(EVENTS),
    branch_filter: Type.Optional(BRANCH_FILTER),
    authorization_header: Type.Optional(AUTHORIZATION),
    active: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'CreateHookOption' },
)

export const EDIT_HOOK_OPTION = Type.Object(
  {
    config: Type.Optional(mapOf(CONFIG_TEXT)),
    events: Type.Optional(EVENTS),
    branch_filter: Type.Optional(BRANCH_FILTER),
    authorization_header: Type.Optional(AUTHORIZATION),
    active: Type.Optional(Type.Boolean()),
  },
  { $id: 'EditHookOption' },
)

/** Returns a webhook for callers who can change it, without its secret. */
export async function hookObject(context: Context, webhook: Webhook): Promise<Static<typeof HOOK>> {
  const { authorizationSealed } = webhook
  const secret = await openInstanceSecret(context.settings.data.dir)
  return {
    id: webhook.id,
    type: webhook.type,
    branch_filter: webhook.branchFilter,
    config: { content_type: webhook.contentType, url: webhook.url, ...shownSettings(webhook) },
    events: [...webhook.events],
    authorization_header:
      authorizationSealed === undefined
        ? ''
        : secret.unseal(authorizationSealed, AUTHORIZATION_SEAL_CONTEXT),
    active: webhook.isActive,
    updated_at: apiTime(webhook.updatedAtMs),
    created_at: apiTime(webhook.createdAtMs),
  }
}

/** Returns the settings of Slack, which are all shown; other services show none, as in Gitea. */
function shownSettings({ type, serviceSettings }: Webhook): Readonly<Record<string, string>> {
  if (type !== 'slack') return {}
  const { channel = '', username = '', icon_url = '', color = '' } = serviceSettings
  return { channel, username, icon_url, color }
}

/** Reads a new webhook from the body. Throws `invalid`. */
export async function readNewHook(
  context: Context,
  body: Static<typeof CREATE_HOOK_OPTION>,
): Promise<WebhookFields> {
  const { type, config } = body
  const known = type === 'gitea' || type === 'gogs' ? type : hookService(type)
  if (known === undefined) throw invalid(`Invalid hook type: ${type}`)
  for (const name of ['url', 'content_type', ...(known === 'slack' ? ['channel'] : [])]) {
    if (config[name] === undefined) throw invalid(`Missing config option: ${name}`)
  }
  return await readWebhook(context, { ...NEW_WEBHOOK, type: known }, inputOf(body))
}

/** Returns the webhook with the changes in the body. Throws `invalid`. */
export async function patchHook(
  context: Context,
  webhook: Webhook,
  body: Static<typeof EDIT_HOOK_OPTION>,
): Promise<WebhookFields> {
  return await readWebhook(context, webhook, inputOf(body))
}

function inputOf(body: Static<typeof EDIT_HOOK_OPTION>): WebhookInput {
  const { url, content_type: contentType, secret, http_method: method } = body.config ?? {}
  if (method !== undefined && method.toUpperCase() !== 'POST') throw invalid('Invalid http method')
  return {
    url,
    contentType,
    secret,
    events: body.events,
    isActive: body.active,
    authorization: body.authorization_header,
    branchFilter: body.branch_filter,
    serviceSettings: body.config,
  }
}

function invalid(message: string): Failure {
  return new Failure('invalid', message)
}
