/** Secrets and variables of workflows, which the site, an owner or a repository has. */

import { Failure, isFailure } from '../../conf/failures.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

export type ValueKind = 'secrets' | 'variables'

/** Owner or repository that has a value; the site has neither id. */
export interface ValueScope {
  readonly ownerId?: number
  readonly repositoryId?: number
}

export interface ScopedValue {
  /** Name in upper case. */
  readonly name: string
  /** Text of a variable, or sealed text of a secret. */
  readonly value: string
  readonly description: string
  readonly createdAtMs: number
}

export interface NewValue extends Omit<ScopedValue, 'createdAtMs'> {
  /** Size of the plain value in UTF-8. */
  readonly bytes: number
}

const TABLES: Readonly<Record<ValueKind, string>> = {
  secrets: 'workflow_secrets',
  variables: 'workflow_variables',
}

/** Maximum number of values of a kind in a scope, and maximum of the sum of their sizes. */
const VALUES_MAX = 100
const TOTAL_BYTES_MAX = 1_048_576

/** Returns the text that identifies a scope. */
export function scopeKey({ ownerId, repositoryId }: ValueScope): string {
  if (repositoryId !== undefined) return `repository:${repositoryId}`
  return ownerId === undefined ? 'site' : `owner:${ownerId}`
}

/** Returns the scopes whose values the jobs of a repository get, the nearest last. */
export function scopesOfRepository({
  id,
  owner,
}: {
  readonly id: number
  readonly owner: { readonly id: number }
}): readonly ValueScope[] {
  return [{}, { ownerId: owner.id }, { repositoryId: id }]
}

/** Returns the values of a scope by their names. */
export async function listValues(
  db: Database,
  kind: ValueKind,
  { scope, page }: { readonly scope: ValueScope; readonly page: Page },
): Promise<Paged<ScopedValue>> {
  const key = scopeKey(scope)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${TABLES[kind]} v where v.scope = ?`,
    [key],
  )
  const condition = 'v.scope = ? order by v.name limit ? offset ?'
  const bindings = [key, page.limit, offsetOf(page)]
  const entries = (await selectValues(db, kind, { condition, bindings })).map(scopedValueOf)
  return { entries, total: Number(count?.total ?? 0) }
}

/** Returns the values of several scopes by their names; the last scope that has a name wins. */
export async function mergeValues(
  db: Database,
  kind: ValueKind,
  scopes: readonly ValueScope[],
): Promise<ReadonlyMap<string, FoundValue>> {
  const bindings = scopes.map(scopeKey)
  const condition = `v.scope in (${bindings.map(() => '?').join(', ')})`
  const rows = await selectValues(db, kind, { condition, bindings })
  return new Map(
    scopes.flatMap((scope) =>
      rows
        .filter((row) => row.scope === scopeKey(scope))
        .map((row) => [row.name, { scope, value: row.value }] as const),
    ),
  )
}

export interface FoundValue {
  readonly scope: ValueScope
  readonly value: string
}

/** Returns the value with this name in a scope. */
export async function findValue(
  db: Database,
  kind: ValueKind,
  { scope, name }: ValueName,
): Promise<ScopedValue | undefined> {
  const bindings = [scopeKey(scope), checkText(name)]
  const [row] = await selectValues(db, kind, { condition: 'v.scope = ? and v.name = ?', bindings })
  return row && scopedValueOf(row)
}

export interface ValueName {
  readonly scope: ValueScope
  readonly name: string
}

/**
 * Inserts a value. Throws `conflict` if the scope has the name already, and `bad_request` if the
 * scope is full.
 */
export async function createValue(
  db: Database,
  kind: ValueKind,
  { scope, ...value }: NewValue & { readonly scope: ValueScope },
): Promise<void> {
  const { name } = value
  const create = async (trx: Database) => {
    await refuseIfFull(trx, kind, { scope, name, bytes: value.bytes })
    await trx(TABLES[kind]).insert({
      ...value,
      scope: scopeKey(scope),
      owner_id: scope.ownerId ?? null,
      repository_id: scope.repositoryId ?? null,
      created_at: Date.now(),
    })
  }
  await orConflict(existsMessage(name), () => transaction(db, create))
}

/**
 * Changes a value, also its name. Returns false if the scope does not have it. Throws `conflict` if
 * the scope has the new name already, and `bad_request` if the scope is full.
 */
export async function updateValue(
  db: Database,
  kind: ValueKind,
  { scope, name, to }: ValueName & { readonly to: NewValue },
): Promise<boolean> {
  const update = async (trx: Database) => {
    if ((await findValue(trx, kind, { scope, name })) === undefined) return false
    await refuseIfFull(trx, kind, { scope, name, bytes: to.bytes })
    const place = { scope: scopeKey(scope), name: checkText(name) }
    return (await trx(TABLES[kind]).where(place).update(to)) > 0
  }
  return await orConflict(existsMessage(to.name), () => transaction(db, update))
}

/** Creates or replaces a value. Returns true if it is new. */
export async function putValue(
  db: Database,
  kind: ValueKind,
  { scope, ...to }: NewValue & { readonly scope: ValueScope },
): Promise<boolean> {
  const update = () => updateValue(db, kind, { scope, name: to.name, to })
  if (await update()) return false
  try {
    await createValue(db, kind, { scope, ...to })
    return true
  } catch (error) {
    // Another request has created it meanwhile.
    if (!isFailure(error, 'conflict') || !(await update())) throw error
    return false
  }
}

/** Deletes a value. Returns false if the scope does not have it. */
export async function removeValue(
  db: Database,
  kind: ValueKind,
  { scope, name }: ValueName,
): Promise<boolean> {
  const place = { scope: scopeKey(scope), name: checkText(name) }
  return (await db(TABLES[kind]).where(place).delete()) > 0
}

/** Throws `bad_request` if the scope has no room for a value besides those with other names. */
async function refuseIfFull(
  trx: Database,
  kind: ValueKind,
  { scope, name, bytes }: ValueName & Pick<NewValue, 'bytes'>,
): Promise<void> {
  const [others] = await selectRows<{ total: number; bytes: number | null }>(
    trx,
    `select count(*) as total, sum(v.bytes) as bytes from ${TABLES[kind]} v
      where v.scope = ? and v.name <> ?`,
    [scopeKey(scope), checkText(name)],
  )
  if (Number(others?.total ?? 0) >= VALUES_MAX) {
    throw new Failure('bad_request', `There are ${VALUES_MAX} ${kind} already, which is the limit.`)
  }
  if (Number(others?.bytes ?? 0) + bytes > TOTAL_BYTES_MAX) {
    throw new Failure(
      'bad_request',
      `All ${kind} together have more than ${TOTAL_BYTES_MAX} bytes.`,
    )
  }
}

function existsMessage(name: string): string {
  return `The name '${name}' is used already.`
}

interface ValueRow {
  readonly scope: string
  readonly name: string
  readonly value: string
  readonly description: string
  readonly created_at: number
}

async function selectValues(
  db: Database,
  kind: ValueKind,
  { condition, bindings }: { condition: string; bindings: readonly (string | number)[] },
): Promise<readonly ValueRow[]> {
  return await selectRows<ValueRow>(
    db,
    `select v.scope, v.name, v.value, v.description, v.created_at from ${TABLES[kind]} v
      where ${condition}`,
    bindings,
  )
}

function scopedValueOf({ name, value, description, created_at }: ValueRow): ScopedValue {
  return { name, value, description, createdAtMs: created_at }
}
