/** Applications: the clients of OAuth2 (RFC 6749) that users sign in to with their account. */

import { checkText } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

export interface OauthApplication {
  readonly id: number
  /** Undefined for a built-in application, which cannot be changed. */
  readonly ownerId: number | undefined
  readonly clientId: string
  readonly name: string
  readonly redirectUris: readonly string[]
  /** True if the application can keep a secret (RFC 6749 §2.1). */
  readonly isConfidential: boolean
  /** True if users who have once granted access to a public application are not asked again. */
  readonly skipsSecondConsent: boolean
  readonly createdAtMs: number
}

export interface ApplicationFields
  extends Pick<
    OauthApplication,
    'name' | 'redirectUris' | 'isConfidential' | 'skipsSecondConsent'
  > {
  /** SHA-256 in lower-case hexadecimal; undefined for a public application, which has no secret. */
  readonly secretHash: string | undefined
}

export interface NewApplication extends ApplicationFields {
  readonly ownerId: number
  readonly clientId: string
}

/** Inserts an application. */
export async function createApplication(
  db: Database,
  application: NewApplication,
): Promise<OauthApplication> {
  const createdAtMs = Date.now()
  const { secretHash: _, ...shown } = application
  const [id] = await db('oauth_applications').insert({
    owner_id: application.ownerId,
    client_id: application.clientId,
    ...columnsOf(application),
    created_at: createdAtMs,
  })
  if (id === undefined) throw new Error('The insert returned no id.')
  return { ...shown, id, createdAtMs }
}

/** Returns the applications of an owner, oldest first. */
export async function listApplications(
  db: Database,
  ownerId: number,
  page: Page,
): Promise<Paged<OauthApplication>> {
  const [count] = await selectRows<{ total: number }>(
    db,
    'select count(*) as total from oauth_applications where owner_id = ?',
    [ownerId],
  )
  const rows = await selectRows<ApplicationRow>(
    db,
    `${SELECT_APPLICATIONS} where a.owner_id = ? order by a.id limit ? offset ?`,
    [ownerId, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(applicationOf), total: count?.total ?? 0 }
}

/** Returns an owner's application by its id. */
export async function findApplication(
  db: Database,
  ownerId: number,
  id: number,
): Promise<OauthApplication | undefined> {
  const [row] = await selectRows<ApplicationRow>(
    db,
    `${SELECT_APPLICATIONS} where a.id = ? and a.owner_id = ?`,
    [id, ownerId],
  )
  return row && applicationOf(row)
}

export interface OauthClient {
  readonly application: OauthApplication
  readonly secretHash: string | undefined
  /** Undefined for a built-in application. */
  readonly ownerName: string | undefined
}

/** Returns the application with that client id. */
export async function findClient(db: Database, clientId: string): Promise<OauthClient | undefined> {
  const [row] = await selectRows<ApplicationRow>(
    db,
    `${SELECT_APPLICATIONS} where a.client_id = ?`,
    [checkText(clientId)],
  )
  if (row === undefined) return undefined
  return {
    application: applicationOf(row),
    secretHash: row.application_secret_hash ?? undefined,
    ownerName: row.application_owner_name ?? undefined,
  }
}

/**
 * Replaces the fields and the secret of an owner's application. Returns false if the owner has no
 * application with that id.
 */
export async function updateApplication(
  db: Database,
  { ownerId, id }: { readonly ownerId: number; readonly id: number },
  fields: ApplicationFields,
): Promise<boolean> {
  const owned = db('oauth_applications').where({ id, owner_id: ownerId })
  return (await owned.update(columnsOf(fields))) > 0
}

/**
 * Deletes an owner's application with all its grants. Returns false if the owner has no application
 * with that id.
 */
export async function deleteApplication(
  db: Database,
  { ownerId, id }: { readonly ownerId: number; readonly id: number },
): Promise<boolean> {
  return (await db('oauth_applications').where({ id, owner_id: ownerId }).delete()) > 0
}

const URI_SEPARATOR = '\n'

function columnsOf(fields: ApplicationFields) {
  return {
    secret_hash: fields.secretHash ?? null,
    name: fields.name,
    redirect_uris: fields.redirectUris.join(URI_SEPARATOR),
    is_confidential: fields.isConfidential,
    skips_second_consent: fields.skipsSecondConsent,
  }
}

/** Columns of `oauth_applications`, selected under the alias `a`. */
export const APPLICATION_COLUMNS = `a.id as application_id, a.owner_id as application_owner_id,
  a.client_id as application_client_id, a.name as application_name,
  a.redirect_uris as application_redirect_uris,
  a.is_confidential as application_is_confidential,
  a.skips_second_consent as application_skips_second_consent,
  a.created_at as application_created_at`

const SELECT_APPLICATIONS = `select ${APPLICATION_COLUMNS},
  a.secret_hash as application_secret_hash, o.name as application_owner_name
  from oauth_applications a left join owners o on o.id = a.owner_id`

export interface ShownApplicationRow {
  readonly application_id: number
  readonly application_owner_id: number | null
  readonly application_client_id: string
  readonly application_name: string
  readonly application_redirect_uris: string
  readonly application_is_confidential: number
  readonly application_skips_second_consent: number
  readonly application_created_at: number
}

interface ApplicationRow extends ShownApplicationRow {
  readonly application_secret_hash: string | null
  readonly application_owner_name: string | null
}

/** Converts a row of APPLICATION_COLUMNS. */
export function applicationOf(row: ShownApplicationRow): OauthApplication {
  return {
    id: row.application_id,
    ownerId: row.application_owner_id ?? undefined,
    clientId: row.application_client_id,
    name: row.application_name,
    redirectUris: row.application_redirect_uris.split(URI_SEPARATOR),
    isConfidential: row.application_is_confidential === 1,
    skipsSecondConsent: row.application_skips_second_consent === 1,
    createdAtMs: row.application_created_at,
  }
}
