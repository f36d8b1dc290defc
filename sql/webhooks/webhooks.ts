/** Webhooks, which receive the events of a repository, of an owner's repositories, or of all. */

import { HOOK_EVENTS, type HookEvent } from '../../conf/hook-events.js'
import type { HookService } from '../../conf/hook-services.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** Repository or owner whose events a webhook receives, or the site. */
export type HookPlace =
  | { readonly repositoryId: number }
  | { readonly ownerId: number }
  | { readonly site: HookSite }

/** Kind of a webhook of the site: for all events, or to be copied into new repositories. */
export type HookSite = 'system' | 'default'

/** Webhooks to find; `all` are those of the site of both kinds. */
export type HookSearch = HookPlace | { readonly site: 'all' }

export interface Webhook extends WebhookFields {
  readonly id: number
  readonly place: HookPlace
  /** Kind of the webhook's place. */
  readonly target: 'repository' | 'organization' | 'user' | HookSite
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface WebhookFields {
  readonly type: 'gitea' | 'gogs' | HookService
  /** Settings of the service, such as `channel`. */
  readonly serviceSettings: Readonly<Record<string, string>>
  readonly url: string
  readonly contentType: 'json' | 'form'
  /** Sealed secret that signs payloads; undefined to send no signature. */
  readonly secretSealed: string | undefined
  /** Sealed `Authorization` header of each request; undefined to send none. */
  readonly authorizationSealed: string | undefined
  readonly events: readonly HookEvent[]
  /** Pattern of branch names; empty for all branches. */
  readonly branchFilter: string
  readonly isActive: boolean
}

export async function createWebhook(
  db: Database,
  place: HookPlace,
  fields: WebhookFields,
): Promise<Webhook> {
  const nowMs = Date.now()
  const [id] = await db('webhooks').insert({
    ...columnsOf(place),
    ...rowOf(fields),
    created_at: nowMs,
    updated_at: nowMs,
  })
  const created = id === undefined ? undefined : await findWebhookById(db, id)
  if (created === undefined) throw new Error('The inserted webhook was not found.')
  return created
}

/** Returns the webhooks of a place, oldest first. */
export async function listWebhooks(
  db: Database,
  place: HookSearch,
  page: Page,
): Promise<Paged<Webhook>> {
  const [where, bindings] = whereOf(place)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from webhooks w where ${where}`,
    bindings,
  )
  const rows = await selectRows<WebhookRow>(
    db,
    `${SELECT} where ${where} order by w.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(webhookOf), total: count?.total ?? 0 }
}

/** Returns the webhook with that id, if the place has it. */
export async function findWebhook(
  db: Database,
  place: HookSearch,
  webhookId: number,
): Promise<Webhook | undefined> {
  const [where, bindings] = whereOf(place)
  const [row] = await selectRows<WebhookRow>(db, `${SELECT} where w.id = ? and ${where}`, [
    webhookId,
    ...bindings,
  ])
  return row === undefined ? undefined : webhookOf(row)
}

/** Returns the webhook with that id. */
export async function findWebhookById(
  db: Database,
  webhookId: number,
): Promise<Webhook | undefined> {
  const [row] = await selectRows<WebhookRow>(db, `${SELECT} where w.id = ?`, [webhookId])
  return row === undefined ? undefined : webhookOf(row)
}

/** Repository or owner, or both, in which an event occurred. */
export interface EventPlace {
  readonly repositoryId?: number | undefined
  readonly ownerId?: number | undefined
}

/**
 * Returns the active webhooks of the repository, of the owner and of all repositories. Every push
 * runs this one query.
 */
export async function listeningWebhooks(
  db: Database,
  { repositoryId, ownerId }: EventPlace,
): Promise<readonly Webhook[]> {
  const rows = await selectRows<WebhookRow>(
    db,
    `${SELECT} where (w.repository_id = ? or w.owner_id = ? or w.site = 'system')
      and w.is_active = 1 order by w.id`,
    [repositoryId ?? null, ownerId ?? null],
  )
  return rows.map(webhookOf)
}

/**
 * Returns true if an active webhook of the owner, of any repository of the owner, or of all
 * repositories receives the event.
 */
export async function hasSubscribersAnywhere(
  db: Database,
  ownerId: number,
  event: HookEvent,
): Promise<boolean> {
  const rows = await selectRows<WebhookRow>(
    db,
    `${SELECT} where w.is_active = 1 and (w.owner_id = ? or w.site = 'system' or w.repository_id in
      (select r.id from repositories r where r.owner_id = ?))`,
    [ownerId, ownerId],
  )
  return rows.map(webhookOf).some(({ events }) => events.includes(event))
}

/** Replaces all fields of a webhook; undefined ones are cleared. */
export async function updateWebhook(
  db: Database,
  webhookId: number,
  fields: WebhookFields,
): Promise<void> {
  await db('webhooks')
    .where({ id: webhookId })
    .update({ ...rowOf(fields), updated_at: Date.now() })
}

/** Deletes a webhook with its deliveries. Returns false if there is no such webhook. */
export async function deleteWebhook(
  db: Database,
  place: HookSearch,
  webhookId: number,
): Promise<boolean> {
  const deleted = db('webhooks').where({ id: webhookId })
  if ('site' in place && place.site === 'all')
    return (await deleted.whereNotNull('site').delete()) > 0
  return (await deleted.where(columnsOf(place)).delete()) > 0
}

/** Copies the default webhooks of the site into a new repository. */
export async function copyDefaultWebhooks(db: Database, repositoryId: number): Promise<void> {
  const { entries } = await listWebhooks(db, { site: 'default' }, { page: 1, limit: COPIES_MAX })
  for (const webhook of entries) await createWebhook(db, { repositoryId }, webhook)
}

/** Maximum number of webhooks that a new repository gets. */
const COPIES_MAX = 100

function whereOf(
  place: HookSearch,
): readonly [where: string, bindings: readonly (string | number)[]] {
  if ('repositoryId' in place) return ['w.repository_id = ?', [place.repositoryId]]
  if ('ownerId' in place) return ['w.owner_id = ?', [place.ownerId]]
  if (place.site === 'all') return ['w.site is not null', []]
  return ['w.site = ?', [place.site]]
}

function columnsOf(place: HookPlace) {
  if ('repositoryId' in place) return { repository_id: place.repositoryId }
  if ('ownerId' in place) return { owner_id: place.ownerId }
  return { site: place.site }
}

function rowOf(fields: WebhookFields) {
  const { type, serviceSettings } = fields
  const isService = type !== 'gitea' && type !== 'gogs'
  return {
    type: isService ? 'gitea' : type,
    service: isService ? type : null,
    service_settings: isService ? JSON.stringify(serviceSettings) : null,
    url: fields.url,
    content_type: fields.contentType,
    secret_sealed: fields.secretSealed ?? null,
    authorization_sealed: fields.authorizationSealed ?? null,
    events: fields.events.join(),
    branch_filter: fields.branchFilter,
    is_active: fields.isActive,
  }
}

const SELECT = `select w.id, w.repository_id, w.owner_id, w.site, o.kind as owner_kind, w.type, w.service,
  w.service_settings, w.url,
  w.content_type, w.secret_sealed, w.authorization_sealed, w.events, w.branch_filter, w.is_active,
  w.created_at, w.updated_at from webhooks w left join owners o on o.id = w.owner_id`

interface WebhookRow {
  readonly id: number
  readonly repository_id: number | null
  readonly owner_id: number | null
  readonly site: HookSite | null
  readonly owner_kind: 'user' | 'organization' | null
  readonly type: 'gitea' | 'gogs'
  readonly service: HookService | null
  readonly service_settings: string | null
  readonly url: string
  readonly content_type: Webhook['contentType']
  readonly secret_sealed: string | null
  readonly authorization_sealed: string | null
  readonly events: string
  readonly branch_filter: string
  readonly is_active: number
  readonly created_at: number
  readonly updated_at: number
}

function webhookOf(row: WebhookRow): Webhook {
  const events = new Set(row.events.split(','))
  return {
    id: row.id,
    place: placeOf(row),
    target: row.site ?? row.owner_kind ?? 'repository',
    type: row.service ?? row.type,
    serviceSettings: JSON.parse(row.service_settings ?? '{}'),
    url: row.url,
    contentType: row.content_type,
    secretSealed: row.secret_sealed ?? undefined,
    authorizationSealed: row.authorization_sealed ?? undefined,
    events: HOOK_EVENTS.filter((event) => events.has(event)),
    branchFilter: row.branch_filter,
    isActive: row.is_active === 1,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  }
}

function placeOf(row: WebhookRow): HookPlace {
  if (row.site !== null) return { site: row.site }
  if (row.repository_id !== null) return { repositoryId: row.repository_id }
  return { ownerId: row.owner_id ?? 0 }
}
