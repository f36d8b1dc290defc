/**
 * Limits of an access token besides its scopes: expiry, client addresses, repositories and
 * packages.
 */

import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

export interface TokenLimits {
  /** Undefined if the token does not expire. */
  readonly expiresAtMs: number | undefined
  /** Addresses and networks (`10.0.0.0/8`) that may use the token; empty if all may. */
  readonly addresses: readonly string[]
  /** Repositories and packages that the token is limited to; undefined for all of its user. */
  readonly reach: TokenRestriction | undefined
}

export interface TokenRestriction {
  readonly repositoryIds: readonly number[]
  readonly packages: readonly PackageRestriction[]
}

/** Limit to one package, or to all packages of an owner. */
export interface PackageRestriction {
  readonly ownerId: number
  /** Format and name in lower case; undefined for all packages of the owner. */
  readonly named: { readonly format: string; readonly name: string } | undefined
}

/** Columns of `tokens` that hold the limits, selected under the alias `t`. */
export const LIMIT_COLUMNS = `t.expires_at as token_expires_at, t.addresses as token_addresses,
  t.is_bound as token_is_bound`

export interface LimitRow {
  readonly token_id: number
  readonly token_expires_at: number | null
  readonly token_addresses: string
  /** 1 if the token is limited to the rows of `token_repositories` and `token_packages`. */
  readonly token_is_bound: number
}

const ADDRESS_SEPARATOR = ','

/** Returns the values of the limit columns of a token. */
export function limitColumns(limits: TokenLimits | undefined) {
  return {
    expires_at: limits?.expiresAtMs ?? null,
    addresses: limits?.addresses.join(ADDRESS_SEPARATOR) ?? '',
    is_bound: limits?.reach !== undefined,
  }
}

/** Inserts the repositories and packages that a new token is limited to. */
export async function insertRestriction(
  db: Database,
  tokenId: number,
  { repositoryIds, packages }: TokenRestriction,
): Promise<void> {
  for (const repositoryId of repositoryIds) {
    await db('token_repositories').insert({ token_id: tokenId, repository_id: repositoryId })
  }
  for (const { ownerId, named } of packages) {
    await db('token_packages').insert({
      token_id: tokenId,
      owner_id: ownerId,
      format: named?.format ?? null,
      name_lower: named?.name ?? null,
    })
  }
}

/** Returns a function from a token's row to its limits, or to undefined if it has none. */
export function limitsOf(
  db: Database,
  rows: readonly LimitRow[],
): Awaitable<(row: LimitRow) => TokenLimits | undefined> {
  const bound = rows.filter((row) => row.token_is_bound === 1).map((row) => row.token_id)
  return after(
    bound.length === 0 ? undefined : restrictionsOf(db, bound),
    (restrictionOf) => (row) => {
      const addresses =
        row.token_addresses === '' ? [] : row.token_addresses.split(ADDRESS_SEPARATOR)
      const expiresAtMs = row.token_expires_at ?? undefined
      const reach = row.token_is_bound === 1 ? restrictionOf?.(row.token_id) : undefined
      const isLimited = addresses.length > 0 || expiresAtMs !== undefined || reach !== undefined
      return isLimited ? { expiresAtMs, addresses, reach } : undefined
    },
  )
}

async function restrictionsOf(
  db: Database,
  tokenIds: readonly number[],
): Promise<(tokenId: number) => TokenRestriction> {
  const places = tokenIds.map(() => '?').join()
  const repositories = await selectRows<{ token_id: number; repository_id: number }>(
    db,
    `select token_id, repository_id from token_repositories where token_id in (${places})
      order by repository_id`,
    tokenIds,
  )
  const packages = await selectRows<PackageRow>(
    db,
    `select token_id, owner_id, format, name_lower from token_packages
      where token_id in (${places}) order by id`,
    tokenIds,
  )
  return (tokenId) => ({
    repositoryIds: repositories
      .filter((row) => row.token_id === tokenId)
      .map((row) => row.repository_id),
    packages: packages.filter((row) => row.token_id === tokenId).map(packageOf),
  })
}

interface PackageRow {
  readonly token_id: number
  readonly owner_id: number
  readonly format: string | null
  readonly name_lower: string | null
}

function packageOf({ owner_id, format, name_lower }: PackageRow): PackageRestriction {
  const isWhole = format === null || name_lower === null
  return { ownerId: owner_id, named: isWhole ? undefined : { format, name: name_lower } }
}
