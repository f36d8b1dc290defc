/** Limits of a token in addition to its scopes: converted from names to ids, and back. */

import { parseAddressSet } from '../../../conf/addresses.js'
import { Failure } from '../../../conf/failures.js'
import { PACKAGE_FORMATS } from '../../../conf/package.js'
import { findOwner, findOwnersById } from '../../../sql/accounts/owners.js'
import type {
  PackageRestriction,
  TokenLimits,
  TokenRestriction,
} from '../../../sql/accounts/token-limits.js'
import type { Token } from '../../../sql/accounts/tokens.js'
import type { User } from '../../../sql/accounts/users.js'
import { foldCase } from '../../../sql/database/bindings.js'
import type { Database } from '../../../sql/database/database.js'
import { accessToPackages, accessToRepository } from '../../../sql/repositories/access.js'
import { findRepositoriesById, findRepository } from '../../../sql/repositories/repositories.js'

/** Maximum number of repositories of a token, and of packages. */
export const ENTRIES_MAX = 100
export const ADDRESSES_MAX = 20
/** Length of the longest form of an IPv6 address with a prefix length. */
export const ADDRESS_LENGTH_MAX = 49
const NAME_LENGTH_MAX = 255

/** Limits as sent by a client. An absent field limits nothing. */
export interface SentLimits {
  readonly expiresAtMs?: number | undefined
  /** Full names, `owner/name`. If these or packages are given, the token has no other access. */
  readonly repositories?: readonly string[] | undefined
  /** Each is the name of an owner, or `owner/format/name`. */
  readonly packages?: readonly string[] | undefined
  readonly addresses?: readonly string[] | undefined
}

/**
 * Reads the limits of a token of `holder`; undefined if there are none. Throws `invalid` with the
 * name of the field, also for a repository or owner that the holder cannot see.
 */
export async function readLimits(
  db: Database,
  holder: User,
  sent: SentLimits,
): Promise<TokenLimits | undefined> {
  const { expiresAtMs } = sent
  if (expiresAtMs !== undefined && expiresAtMs <= Date.now()) {
    const time = new Date(expiresAtMs).toISOString()
    throw invalidLimit('expires_at', `${time} is not in the future.`)
  }
  const addresses = readAddresses(sent.addresses ?? [])
  const reach: TokenRestriction | undefined =
    sent.repositories === undefined && sent.packages === undefined
      ? undefined
      : {
          repositoryIds: await readRepositories(db, holder, sent.repositories ?? []),
          packages: await readPackages(db, holder, sent.packages ?? []),
        }
  const isLimited = expiresAtMs !== undefined || addresses.length > 0 || reach !== undefined
  return isLimited ? { expiresAtMs, addresses, reach } : undefined
}

function readAddresses(entries: readonly string[]): readonly string[] {
  const unique = [...new Set(entries.map((entry) => entry.trim().toLowerCase()))]
  refuseMany('addresses', entries, ADDRESSES_MAX)
  try {
    if (unique.length > 0) parseAddressSet(unique)
    return unique
  } catch (error) {
    throw invalidLimit('addresses', error instanceof Error ? error.message : String(error))
  }
}

function refuseMany(field: string, entries: readonly string[], max: number): void {
  if (entries.length > max) throw invalidLimit(field, `at most ${max} entries are permitted.`)
}

async function readRepositories(
  db: Database,
  holder: User,
  names: readonly string[],
): Promise<readonly number[]> {
  refuseMany('repositories', names, ENTRIES_MAX)
  const ids = new Set<number>()
  for (const fullName of names) {
    const [owner = '', name = '', ...rest] = fullName.split('/')
    const found = rest.length === 0 ? await findRepository(db, owner, name) : undefined
    const modes = found === undefined ? undefined : await accessToRepository(db, holder, found)
    if (found === undefined || modes === undefined || modes.any === 'none') {
      throw invalidLimit(
        'repositories',
        `${JSON.stringify(fullName)} is not a repository (owner/name).`,
      )
    }
    ids.add(found.id)
  }
  return [...ids].sort((one, other) => one - other)
}

async function readPackages(
  db: Database,
  holder: User,
  names: readonly string[],
): Promise<readonly PackageRestriction[]> {
  refuseMany('packages', names, ENTRIES_MAX)
  const restrictions = new Map<string, PackageRestriction>()
  for (const text of names) {
    const [ownerName = '', format, ...rest] = text.split('/')
    const owner = await findOwner(db, ownerName)
    if (owner === undefined || (await accessToPackages(db, holder, owner)) === 'none') {
      throw invalidLimit(
        'packages',
        `${JSON.stringify(text)} does not begin with an owner of packages.`,
      )
    }
    const named = format === undefined ? undefined : readPackage(text, format, rest.join('/'))
    restrictions.set(JSON.stringify([owner.id, named]), { ownerId: owner.id, named })
  }
  return [...restrictions.values()]
}

function readPackage(text: string, format: string, name: string): PackageRestriction['named'] {
  const isKnown = PACKAGE_FORMATS.some((known) => known === format)
  if (!isKnown || name === '' || name.length > NAME_LENGTH_MAX) {
    throw invalidLimit(
      'packages',
      `${JSON.stringify(text)} is neither owner nor owner/format/name.`,
    )
  }
  return { format, name: foldCase(name) }
}

/** Creates an error that begins with the name of the field in the API. */
export function invalidLimit(field: string, sentence: string): Failure {
  return new Failure('invalid', `${field}: ${sentence}`)
}

export interface LimitNames {
  readonly repositories: readonly string[]
  readonly packages: readonly string[]
}

/**
 * Returns a function that gives the current names of a token's repositories and packages, without
 * those that the holder can no longer see. `tokens` are tokens of one account.
 */
export async function namesOfLimits(
  db: Database,
  holder: User,
  tokens: readonly Token[],
): Promise<(token: Token) => LimitNames> {
  const restrictions = tokens.flatMap(({ limits }) => limits?.reach ?? [])
  const names: Names = { repositories: new Map(), owners: new Map() }
  const ids = new Set(restrictions.flatMap(({ repositoryIds }) => repositoryIds))
  for (const repository of await findRepositoriesById(db, [...ids])) {
    if ((await accessToRepository(db, holder, repository)).any === 'none') continue
    names.repositories.set(repository.id, `${repository.owner.name}/${repository.name}`)
  }
  const ownerIds = restrictions.flatMap(({ packages }) => packages.map(({ ownerId }) => ownerId))
  for (const [id, owner] of await findOwnersById(db, ownerIds)) {
    const mode = await accessToPackages(db, holder, owner)
    if (mode !== 'none') names.owners.set(id, owner.name)
  }
  return ({ limits }) => namesOfRestriction(limits?.reach, names)
}

/** Full names of repositories and names of owners, by id. */
interface Names {
  readonly repositories: Map<number, string>
  readonly owners: Map<number, string>
}

const NOTHING: TokenRestriction = { repositoryIds: [], packages: [] }

function namesOfRestriction(reach = NOTHING, { repositories, owners }: Names): LimitNames {
  return {
    repositories: reach.repositoryIds.flatMap((id) => repositories.get(id) ?? []),
    packages: reach.packages.flatMap(({ ownerId, named }) => {
      const owner = owners.get(ownerId)
      if (owner === undefined) return []
      return [named === undefined ? owner : `${owner}/${named.format}/${named.name}`]
    }),
  }
}
