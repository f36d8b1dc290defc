/** Entries of the audit log. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** Facts that are known before the change. */
export interface AuditFacts {
  /** Kind of the changed thing and the verb, such as `ssh_key.create`. */
  readonly action: string
  readonly actorId: number | undefined
  /** Name of the account; of the system's user for a command on the server. */
  readonly actorName: string
  /** Kind of the credentials, such as `session` or `token`. */
  readonly credential: string
  readonly tokenId?: number | undefined
  /** Name of the administrator who acted as the actor. */
  readonly sudoBy?: string | undefined
  readonly address?: string | undefined
  readonly requestId?: string | undefined
  /** Owner who may read the entry besides site administrators. */
  readonly ownerId: number | undefined
  /** Name of the account, organization, repository or team that is changed. */
  readonly subject: string
}

export interface AuditEntry extends AuditFacts {
  readonly id: number
  readonly createdAtMs: number
  readonly details: string
  /** Time of the success; undefined if the result is not known, or not yet. */
  readonly completedAtMs: number | undefined
}

const SUBJECT_CHARACTERS_MAX = 512
const DETAIL_CHARACTERS_MAX = 2_000

/** Adds an entry before its change; returns the id. */
export async function beginAuditEntry(db: Database, facts: AuditFacts): Promise<number> {
  const [id] = await db('audit_entries').insert({
    created_at: Date.now(),
    action: facts.action,
    actor_id: facts.actorId ?? null,
    actor_name: facts.actorName,
    credential: facts.credential,
    token_id: facts.tokenId ?? null,
    sudo_by: facts.sudoBy ?? null,
    address: facts.address ?? null,
    request_id: facts.requestId ?? null,
    owner_id: facts.ownerId ?? null,
    subject: facts.subject.slice(0, SUBJECT_CHARACTERS_MAX),
    details: '',
  })
  if (id === undefined) throw new Error('The insert returned no id.')
  return id
}

/** Records that the change of an entry has succeeded. */
export async function completeAuditEntry(db: Database, id: number, details: string): Promise<void> {
  const entry = db('audit_entries').where({ id, completed_at: null })
  await entry.update({
    completed_at: Date.now(),
    details: details.slice(0, DETAIL_CHARACTERS_MAX),
  })
}

/** Removes an entry whose change was refused, so that nothing has changed. */
export async function cancelAuditEntry(db: Database, id: number): Promise<void> {
  await db('audit_entries').where({ id, completed_at: null }).delete()
}

/** Removes entries that are older than a time; returns their number. */
export async function removeOldAuditEntries(db: Database, beforeMs: number): Promise<number> {
  return await db('audit_entries').where('created_at', '<', beforeMs).delete()
}

export interface AuditFilter {
  /** Owner of the changed things; undefined for the whole site. */
  readonly ownerId?: number | undefined
  readonly actor?: string | undefined
  /** An action, or the kind before its dot. */
  readonly action?: string | undefined
  readonly sinceMs?: number | undefined
  readonly beforeMs?: number | undefined
}

/** Returns the entries that fit all conditions of a filter, the newest first. */
export async function listAuditEntries(
  db: Database,
  filter: AuditFilter,
  page: Page,
): Promise<Paged<AuditEntry>> {
  const conditions = conditionsOf(filter)
  const where = conditions.map(([condition]) => `where ${condition}`).join(' ')
  const clause = where.replaceAll(' where ', ' and ')
  const bindings = conditions.flatMap(([, ...values]) => values)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from audit_entries ${clause}`,
    bindings,
  )
  const rows = await selectRows<AuditRow>(
    db,
    `select * from audit_entries ${clause} order by id desc limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(entryOf), total: count?.total ?? 0 }
}

type Condition = readonly [sql: string, ...values: (string | number)[]]

function conditionsOf({ ownerId, actor, action, sinceMs, beforeMs }: AuditFilter) {
  const conditions: Condition[] = []
  if (ownerId !== undefined) conditions.push(['owner_id = ?', ownerId])
  if (actor !== undefined) conditions.push(['lower(actor_name) = ?', actor.toLowerCase()])
  // The character after the dot in the encoding is the slash.
  if (action?.includes('.') === false) {
    conditions.push(['action > ? and action < ?', `${action}.`, `${action}/`])
  } else if (action !== undefined) conditions.push(['action = ?', action])
  if (sinceMs !== undefined) conditions.push(['created_at >= ?', sinceMs])
  if (beforeMs !== undefined) conditions.push(['created_at < ?', beforeMs])
  return conditions
}

interface AuditRow {
  readonly id: number
  readonly created_at: number
  readonly action: string
  readonly actor_id: number | null
  readonly actor_name: string
  readonly credential: string
  readonly token_id: number | null
  readonly sudo_by: string | null
  readonly address: string | null
  readonly request_id: string | null
  readonly owner_id: number | null
  readonly subject: string
  readonly details: string
  readonly completed_at: number | null
}

function entryOf(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    createdAtMs: row.created_at,
    action: row.action,
    actorId: row.actor_id ?? undefined,
    actorName: row.actor_name,
    credential: row.credential,
    tokenId: row.token_id ?? undefined,
    sudoBy: row.sudo_by ?? undefined,
    address: row.address ?? undefined,
    requestId: row.request_id ?? undefined,
    ownerId: row.owner_id ?? undefined,
    subject: row.subject,
    details: row.details,
    completedAtMs: row.completed_at ?? undefined,
  }
}
