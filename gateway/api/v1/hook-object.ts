/** The Hook of this API, and what is sent to make or to change one. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { parseGlob } from '../../../conf/glob.js'
import { parseHookEvents } from '../../../conf/hook-events.js'
import { type InstanceSecret, openInstanceSecret } from '../../../conf/instance-secret.js'
import type { Webhook, WebhookFields } from '../../../sql/webhooks.js'
import type { Context } from '../../context.js'
import { AUTHORIZATION_WORDS, SECRET_WORDS } from '../../outbound/delivery-request.js'
import { TIME } from '../schema.js'
import { apiTime } from './times.js'

/** Texts by name; a record would say so in a word that Swagger 2.0 does not have. */
function mapOf(value: object, options: { readonly $id?: string } = {}) {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    ...{ type: 'object', additionalProperties: value },
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

const BRANCH_FILTER = Type.String({ maxLength: 255 })
const AUTHORIZATION = Type.String({ maxLength: 2_000 })
const EVENTS = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })
const CONFIG_TEXT = Type.String({ maxLength: 2_000 })

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

type Config = Readonly<Record<string, string>>

/** A webhook as those see it who may change it: without its secret. */
export async function hookObject(context: Context, webhook: Webhook): Promise<Static<typeof HOOK>> {
  const { authorizationSealed } = webhook
  const secret = await secretOf(context)
  return {
    id: webhook.id,
    type: webhook.type,
    branch_filter: webhook.branchFilter,
    config: { content_type: webhook.contentType, url: webhook.url },
    events: [...webhook.events],
    authorization_header:
      authorizationSealed === undefined
        ? ''
        : secret.unseal(authorizationSealed, AUTHORIZATION_WORDS),
    active: webhook.isActive,
    updated_at: apiTime(webhook.updatedAtMs),
    created_at: apiTime(webhook.createdAtMs),
  }
}

/** The webhook that was sent. Throws `invalid`. */
export async function readNewHook(
  context: Context,
  body: Static<typeof CREATE_HOOK_OPTION>,
): Promise<WebhookFields> {
  const { type, config } = body
  if (type !== 'gitea' && type !== 'gogs') throw invalid(`Invalid hook type: ${type}`)
  for (const name of ['url', 'content_type']) {
    if (config[name] === undefined) throw invalid(`Missing config option: ${name}`)
  }
  const secret = await secretOf(context)
  return {
    type,
    ...{ url: '', contentType: 'json', secretSealed: undefined },
    ...readConfig(config, secret),
    events: readEvents(body.events),
    branchFilter: readFilter(body.branch_filter ?? ''),
    authorizationSealed: seal(secret, body.authorization_header, AUTHORIZATION_WORDS),
    isActive: body.active ?? false,
  }
}

/**
 * The webhook as it is to be. What is absent stays, but for the events: these are those that were
 * sent, and `push` where none were. Throws `invalid`.
 */
export async function patchHook(
  context: Context,
  webhook: Webhook,
  body: Static<typeof EDIT_HOOK_OPTION>,
): Promise<WebhookFields> {
  const secret = await secretOf(context)
  const { branch_filter, authorization_header: authorization } = body
  return {
    ...webhook,
    ...readConfig(body.config ?? {}, secret),
    events: readEvents(body.events),
    branchFilter: branch_filter === undefined ? webhook.branchFilter : readFilter(branch_filter),
    authorizationSealed:
      authorization === undefined
        ? webhook.authorizationSealed
        : seal(secret, authorization, AUTHORIZATION_WORDS),
    isActive: body.active ?? webhook.isActive,
  }
}

function secretOf({ settings }: Context): Promise<InstanceSecret> {
  return openInstanceSecret(settings.data.dir)
}

function readConfig(config: Config, secret: InstanceSecret): Partial<WebhookFields> {
  const { url, content_type: type, secret: key, http_method: method } = config
  if (type !== undefined && type !== 'json' && type !== 'form')
    throw invalid('Invalid content type')
  if (method !== undefined && method.toUpperCase() !== 'POST') throw invalid('Invalid http method')
  return {
    ...(url === undefined ? {} : { url: readUrl(url) }),
    ...(type === undefined ? {} : { contentType: type }),
    ...(key === undefined ? {} : { secretSealed: seal(secret, key, SECRET_WORDS) }),
  }
}

/** Where it leads is looked at when it is called; what stands in it would be shown and stored. */
function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // Browsers read a host into `https:///x`, where others see none.
  const isHttp = url !== undefined && /^https?:\/\/[^/\\]/i.test(text)
  if (!isHttp || url.username !== '' || url.password !== '') throw invalid('Invalid url')
  return url.href
}

function readEvents(words: readonly string[] = []): WebhookFields['events'] {
  return parseHookEvents(words.length === 0 ? ['push'] : words)
}

function readFilter(pattern: string): string {
  if (parseGlob(pattern) === undefined) throw invalid('Invalid branch filter')
  return pattern
}

/** A header ends where its line does. */
function seal(secret: InstanceSecret, text = '', words: string): string | undefined {
  if (words === AUTHORIZATION_WORDS && /[^\t\x20-\x7e]/.test(text)) {
    throw invalid('Invalid authorization header')
  }
  return text === '' ? undefined : secret.seal(text, words)
}

function invalid(message: string): Failure {
  return new Failure('invalid', message)
}
