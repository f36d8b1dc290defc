/** Limits of access tokens over the API, in fields that Gitea does not have. */

import { Type } from 'typebox'
import type { TokenLimits } from '../../../sql/accounts/token-limits.js'
import type { Token } from '../../../sql/accounts/tokens.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  ADDRESS_LENGTH_MAX,
  ADDRESSES_MAX,
  ENTRIES_MAX,
  invalidLimit,
  namesOfLimits,
  readLimits,
} from '../../actions/accounts/token-limits.js'
import { omissible, TIME } from '../../objects/schema.js'
import { apiTime, readTime } from '../../objects/times.js'
import type { Context } from '../../request/context.js'

/** Descriptions of the fields in `/swagger.v1.json`. */
const ABOUT = {
  expires_at: 'Gatehouse extension: expiry time of the token; absent if it does not expire',
  repositories:
    'Gatehouse extension: repositories (owner/name) that the token can access, also after they ' +
    'are renamed; a token with repositories or packages can otherwise only read public data',
  packages:
    'Gatehouse extension: packages that the token can access: all packages of an owner (owner), ' +
    'or one package (owner/format/name)',
  addresses:
    'Gatehouse extension: addresses and networks (192.0.2.7, 10.0.0.0/8, 2001:db8::/32) from ' +
    'which the token is accepted; absent if it is accepted from any address',
} as const

/** Fields of the limits in an AccessToken; a limit that the token does not have is omitted. */
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

/** Fields of the limits in the body that creates a token. */
export const LIMIT_OPTIONS = {
  expires_at: Type.Optional({ ...TIME, description: ABOUT.expires_at }),
  repositories: Type.Optional(
    Type.Array(Type.String(), { ...ENTRIES, description: ABOUT.repositories }),
  ),
  packages: Type.Optional(Type.Array(Type.String(), { ...ENTRIES, description: ABOUT.packages })),
  addresses: Type.Optional(
    Type.Array(Type.String({ maxLength: ADDRESS_LENGTH_MAX }), {
      minItems: 1,
      maxItems: ADDRESSES_MAX,
      description: ABOUT.addresses,
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

/** Reads the limits of a new token of `holder`. Throws `invalid` with the name of the field. */
export async function limitsOf(
  { db }: Context,
  holder: User,
  { expires_at: end, ...rest }: SentLimits,
): Promise<TokenLimits | undefined> {
  const expiresAtMs = end === undefined ? undefined : readEnd(end)
  return await readLimits(db, holder, { ...rest, expiresAtMs })
}

function readEnd(text: string): number {
  try {
    return readTime(text)
  } catch (error) {
    throw invalidLimit('expires_at', error instanceof Error ? error.message : String(error))
  }
}

/**
 * Returns a function from a token of `holder` to its limits. Repositories and packages that the
 * holder can no longer see are omitted.
 */
export async function shownLimits(
  { db }: Context,
  holder: User,
  tokens: readonly Token[],
): Promise<(token: Token) => ShownLimits> {
  const namesOf = await namesOfLimits(db, holder, tokens)
  return (token) => {
    const { limits } = token
    const { repositories, packages } = namesOf(token)
    const addresses = limits?.addresses ?? []
    return {
      ...(limits?.expiresAtMs === undefined ? {} : { expires_at: apiTime(limits.expiresAtMs) }),
      ...(limits?.reach === undefined
        ? {}
        : { repositories: [...repositories], packages: [...packages] }),
      ...(addresses.length === 0 ? {} : { addresses: [...addresses] }),
    }
  }
}
