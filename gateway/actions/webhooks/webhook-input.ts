/** Validation of new and changed webhooks, whose secrets are sealed. */

import { isIP } from 'node:net'
import { Failure, notFound } from '../../../conf/failures.js'
import { parseHookEvents } from '../../../conf/hook-events.js'
import { type InstanceSecret, openInstanceSecret } from '../../../conf/instance-secret.js'
import { parseGlob } from '../../../conf/lib/glob.js'
import {
  findWebhook,
  type HookSearch,
  type Webhook,
  type WebhookFields,
} from '../../../sql/webhooks/webhooks.js'
import { readId } from '../../auth/refusals.js'
import { resolveOutbound } from '../../outbound/address.js'
import { AUTHORIZATION_SEAL_CONTEXT, SECRET_SEAL_CONTEXT } from '../../outbound/delivery-request.js'
import type { Context } from '../../request/context.js'
import { refuseLonger } from '../accounts/refuse-longer.js'

/** Maximum number of characters of the URL, the secret and the header `Authorization`. */
export const HOOK_TEXT_CHARACTERS_MAX = 2_000
export const BRANCH_FILTER_CHARACTERS_MAX = 255

/**
 * Fields as sent by a client. An absent field is not changed, except `events`: without them the
 * webhook gets only `push`.
 */
export interface WebhookInput {
  readonly url?: string | undefined
  readonly contentType?: string | undefined
  /** Empty for none. */
  readonly secret?: string | undefined
  /** Empty for none. */
  readonly authorization?: string | undefined
  readonly events?: readonly string[] | undefined
  readonly branchFilter?: string | undefined
  readonly isActive?: boolean | undefined
  /** Settings of the webhook's service. */
  readonly serviceSettings?: Readonly<Record<string, string>> | undefined
}

/** Defaults of a new webhook. */
export const NEW_WEBHOOK: WebhookFields = {
  type: 'gitea',
  serviceSettings: {},
  url: '',
  contentType: 'json',
  events: [],
  branchFilter: '',
  isActive: false,
  secretSealed: undefined,
  authorizationSealed: undefined,
}

/** Returns the fields to store. Throws `invalid`. */
export async function readWebhook(
  context: Context,
  before: WebhookFields,
  input: WebhookInput,
): Promise<WebhookFields> {
  const { url, contentType = before.contentType, branchFilter, secret, authorization } = input
  if (contentType !== 'json' && contentType !== 'form') throw invalid('Invalid content type')
  const sealing = await openInstanceSecret(context.settings.data.dir)
  return {
    ...before,
    url: url === undefined ? before.url : await readUrl(context, url),
    contentType,
    secretSealed: secret === undefined ? before.secretSealed : sealSecret(sealing, secret),
    authorizationSealed:
      authorization === undefined
        ? before.authorizationSealed
        : sealAuthorization(sealing, authorization),
    events: parseHookEvents(input.events?.length ? input.events : ['push']),
    branchFilter: branchFilter === undefined ? before.branchFilter : readFilter(branchFilter),
    isActive: input.isActive ?? before.isActive,
    serviceSettings: readServiceSettings(before, input.serviceSettings ?? {}),
  }
}

/** Names of the settings of each service; those of others are ignored. */
const SETTING_NAMES: Readonly<Partial<Record<WebhookFields['type'], readonly string[]>>> = {
  discord: ['username', 'icon_url'],
  packagist: ['package_url'],
  slack: ['channel', 'username', 'icon_url', 'color'],
}

function readServiceSettings(
  { type, serviceSettings: before }: WebhookFields,
  sent: Readonly<Record<string, string>>,
): WebhookFields['serviceSettings'] {
  const names = SETTING_NAMES[type] ?? []
  const known = names.flatMap((name) => {
    const text = sent[name]?.trim() ?? before[name]
    return text === undefined ? [] : [[name, text] as const]
  })
  const settings = Object.fromEntries(known)
  if (type === 'slack' && !/^#?[a-z0-9_-]{1,80}$/.test(settings['channel'] ?? '')) {
    throw new Failure('bad_request', 'Invalid slack channel name')
  }
  return settings
}

/**
 * Validates the URL. An IP address in it is checked immediately; a name is resolved and checked
 * before each delivery. Credentials are refused, because the URL is stored and shown.
 */
async function readUrl({ settings }: Context, text: string): Promise<string> {
  refuseLonger('URL', text, HOOK_TEXT_CHARACTERS_MAX)
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The URL parser accepts `https:///x` and takes `x` for the host; other clients see no host.
  const isHttp = url !== undefined && /^https?:\/\/[^/\\]/i.test(text)
  if (!isHttp || url.username !== '' || url.password !== '') throw invalid('Invalid url')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) await resolveOutbound(host, { allowPrivate: settings.outbound.allow })
  return url.href
}

function readFilter(pattern: string): string {
  refuseLonger('branch filter', pattern, BRANCH_FILTER_CHARACTERS_MAX)
  if (parseGlob(pattern) === undefined) throw invalid('Invalid branch filter')
  return pattern
}

function sealSecret(sealing: InstanceSecret, text: string): string | undefined {
  refuseLonger('secret', text, HOOK_TEXT_CHARACTERS_MAX)
  return text === '' ? undefined : sealing.seal(text, SECRET_SEAL_CONTEXT)
}

/** Refuses control characters: a line break would begin another header. */
function sealAuthorization(sealing: InstanceSecret, text: string): string | undefined {
  refuseLonger('authorization header', text, HOOK_TEXT_CHARACTERS_MAX)
  if (/[^\t\x20-\x7e]/.test(text)) throw invalid('Invalid authorization header')
  return text === '' ? undefined : sealing.seal(text, AUTHORIZATION_SEAL_CONTEXT)
}

function invalid(message: string): Failure {
  return new Failure('invalid', message)
}

/** Returns the webhook of a place with the `{id}` of the path. Throws `not_found`. */
export async function namedWebhook(
  { db }: Context,
  place: HookSearch,
  { id: text = '' }: Readonly<Record<string, string>>,
): Promise<Webhook> {
  const id = readId(text)
  const webhook = id === undefined ? undefined : await findWebhook(db, place, id)
  if (webhook === undefined) throw notFound()
  return webhook
}
