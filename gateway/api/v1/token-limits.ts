/** What limits a token over the API: fields that this house has beside those of Gitea. */

import { Type } from 'typebox'
import { parseAddressSet } from '../../../conf/addresses.js'
import { Failure } from '../../../conf/failures.js'
import { PACKAGE_FORMATS } from '../../../conf/package.js'
import { accessToPackages } from '../../../sql/access.js'
import { foldCase } from '../../../sql/bindings.js'
import { findRepositoriesById, findRepository } from '../../../sql/repositories.js'
import type { PackageReach, TokenLimits, TokenReach } from '../../../sql/token-limits.js'
import type { Token } from '../../../sql/tokens.js'
import { findOwner, findOwnersById } from '../../../sql/users.js'
import { accessToLinked, type Grants } from '../../auth/gate.js'
import type { Context } from '../../context.js'
import { omissible, TIME } from '../schema.js'
import { apiTime, readTime } from './times.js'

const ENTRIES_MAX = 100
const ADDRESSES_MAX = 20
const NAME_LENGTH_MAX = 255

/** An IPv6 address of the longest form, with its width. */
const ADDRESS_LENGTH_MAX = 49

/** What a reader of the description is told. */
const ABOUT = {
  expires_at: 'Beyond Gitea: when the token ends; absent: it does not',
  repositories:
    'Beyond Gitea: the repositories (owner/name) that the token opens, by any name that they ' +
    'have later; with these or packages it opens nothing else but what everybody may read',
  packages:
    'Beyond Gitea: the packages that the token opens: an owner, or one package (owner/format/name)',
  addresses:
    'Beyond Gitea: the addresses and networks (192.0.2.7, 10.0.0.0/8, 2001:db8::/32) from which ' +
    'the token counts; absent: from everywhere',
} as const

/** Of a token, where something limits it. */
export const LIMIT_FIELDS = {
  expires_at: omissible({ ...TIME, description: ABOUT.expires_at }),
  repositories: omissible(listed(ABOUT.repositories)),
  packages: omissible(listed(ABOUT.packages)),
  addresses: omissible(listed(ABOUT.addresses)),
}

function listed(description: string) {
  return Type.Array(Type.String(), { description })
}

const ENTRIES = { minItems: 1, maxItems: ENTRIES_MAX }

/** Of the wish for a token. */
export const LIMIT_OPTIONS = {
  expires_at: Type.Optional({ ...TIME, description: ABOUT.expires_at }),
  repositories: Type.Optional(
    Type.Array(Type.String(), { ...ENTRIES, description: ABOUT.repositories }),
  ),
  packages: Type.Optional(Type.Array(Type.String(), { ...ENTRIES, description: ABOUT.packages })),
  addresses: Type.Optional(
    Type.Array(Type.String({ maxLength: ADDRESS_LENGTH_MAX }), {
      ...{ minItems: 1, maxItems: ADDRESSES_MAX, description: ABOUT.addresses },
    }),
  ),
}

export interface ShownLimits {
  expires_at?: string
  repositories?: string[]
  packages?: string[]
  addresses?: string[]
}

interface SentLimits {
  readonly expires_at?: string
  readonly repositories?: readonly string[]
  readonly packages?: readonly string[]
  readonly addresses?: readonly string[]
}

/** Whose token it is to be, signed in with all that they may. */
type Holder = Grants['account']['who']

/** What is to limit a token; undefined: nothing. Throws `invalid` with the name of the field. */
export async function readLimits(
  { db }: Context,
  holder: Holder,
  sent: SentLimits,
): Promise<TokenLimits | undefined> {
  const expiresAtMs = sent.expires_at === undefined ? undefined : readEnd(sent.expires_at)
  const addresses = readAddresses(sent.addresses ?? [])
  const reach: TokenReach | undefined =
    sent.repositories === undefined && sent.packages === undefined
      ? undefined
      : {
          repositoryIds: await readRepositories(db, holder, sent.repositories ?? []),
          packages: await readPackages(db, holder, sent.packages ?? []),
        }
  const isLimited = expiresAtMs !== undefined || addresses.length > 0 || reach !== undefined
  return isLimited ? { expiresAtMs, addresses, reach } : undefined
}

function readEnd(text: string): number {
  const endMs = orInvalid('expires_at', () => readTime(text))
  if (endMs <= Date.now()) throw invalid('expires_at', `${text} is not in the future.`)
  return endMs
}

function readAddresses(entries: readonly string[]): readonly string[] {
  const unique = [...new Set(entries.map((entry) => entry.trim().toLowerCase()))]
  if (unique.length > 0) orInvalid('addresses', () => parseAddressSet(unique))
  return unique
}

async function readRepositories(
  db: Context['db'],
  holder: Holder,
  names: readonly string[],
): Promise<readonly number[]> {
  const ids = new Set<number>()
  for (const fullName of names) {
    const [owner = '', name = '', ...rest] = fullName.split('/')
    const found = rest.length === 0 ? await findRepository(db, owner, name) : undefined
    const mode = found === undefined ? 'none' : await accessToLinked(db, holder, found)
    if (found === undefined || mode === 'none') {
      throw invalid('repositories', `${JSON.stringify(fullName)} is no repository (owner/name).`)
    }
    ids.add(found.id)
  }
  return [...ids].sort((one, other) => one - other)
}

async function readPackages(
  db: Context['db'],
  { user }: Holder,
  names: readonly string[],
): Promise<readonly PackageReach[]> {
  const reaches = new Map<string, PackageReach>()
  for (const text of names) {
    const [ownerName = '', format, ...rest] = text.split('/')
    const owner = await findOwner(db, ownerName)
    if (owner === undefined || (await accessToPackages(db, user, owner)) === 'none') {
      throw invalid('packages', `${JSON.stringify(text)} begins with no owner of packages.`)
    }
    const named = format === undefined ? undefined : readPackage(text, format, rest.join('/'))
    reaches.set(JSON.stringify([owner.id, named]), { ownerId: owner.id, named })
  }
  return [...reaches.values()]
}

function readPackage(text: string, format: string, name: string): PackageReach['named'] {
  const isKnown = PACKAGE_FORMATS.some((known) => known === format)
  if (!isKnown || name === '' || name.length > NAME_LENGTH_MAX) {
    throw invalid('packages', `${JSON.stringify(text)} is neither owner nor owner/format/name.`)
  }
  return { format, name: foldCase(name) }
}

function orInvalid<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw invalid(field, error instanceof Error ? error.message : String(error))
  }
}

function invalid(field: string, sentence: string): Failure {
  return new Failure('invalid', `${field}: ${sentence}`)
}

/**
 * Of each token of one account what limits it, with the names that things have now; without what
 * the holder may not see any more.
 */
export async function shownLimits(
  { db }: Context,
  holder: Holder,
  tokens: readonly Token[],
): Promise<(token: Token) => ShownLimits> {
  const reaches = tokens.flatMap(({ limits }) => limits?.reach ?? [])
  const names: Names = { repositories: new Map(), owners: new Map() }
  const ids = new Set(reaches.flatMap(({ repositoryIds }) => repositoryIds))
  for (const repository of await findRepositoriesById(db, [...ids])) {
    if ((await accessToLinked(db, holder, repository)) === 'none') continue
    names.repositories.set(repository.id, `${repository.owner.name}/${repository.name}`)
  }
  const ownerIds = reaches.flatMap(({ packages }) => packages.map(({ ownerId }) => ownerId))
  for (const [id, owner] of await findOwnersById(db, ownerIds)) {
    const mode = await accessToPackages(db, holder.user, owner)
    if (mode !== 'none') names.owners.set(id, owner.name)
  }
  return ({ limits }) => ({
    ...(limits?.expiresAtMs === undefined ? {} : { expires_at: apiTime(limits.expiresAtMs) }),
    ...(limits?.reach === undefined ? {} : shownReach(limits.reach, names)),
    ...(limits === undefined || limits.addresses.length === 0
      ? {}
      : { addresses: [...limits.addresses] }),
  })
}

/** By ids. */
interface Names {
  readonly repositories: Map<number, string>
  readonly owners: Map<number, string>
}

function shownReach({ repositoryIds, packages }: TokenReach, { repositories, owners }: Names) {
  return {
    repositories: repositoryIds.flatMap((id) => repositories.get(id) ?? []),
    packages: packages.flatMap(({ ownerId, named }) => {
      const owner = owners.get(ownerId)
      if (owner === undefined) return []
      return [named === undefined ? owner : `${owner}/${named.format}/${named.name}`]
    }),
  }
}
