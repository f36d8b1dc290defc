/** Verification of signed commits and tags against the keys of their committers. */

import type { Commit, SignedBytes, Tag } from '../../../cgi/objects/commit-object.js'
import { parseSshSignature, SSH_ARMOR, verifySshSignature } from '../../../conf/ssh-signature.js'
import { type GpgKey, listGpgKeysOf } from '../../../sql/accounts/gpg-keys.js'
import { usersOfFingerprints } from '../../../sql/accounts/keys.js'
import type { User } from '../../../sql/accounts/users.js'
import { findUsersByEmail } from '../../../sql/accounts/users-by-email.js'
import { foldCase } from '../../../sql/database/bindings.js'
import type { Context } from '../../request/context.js'

/** A commit or tag with the address of its committer or tagger. */
export interface SignedObject {
  readonly id: string
  readonly email: string
  readonly signature: SignedBytes | undefined
}

export interface Verification {
  readonly isVerified: boolean
  /** Name of the signer and id of the key, or the reason of the failure in Gitea's words. */
  readonly reason: string
  /** Account of the committer, whose key it is; undefined if the object is not verified. */
  readonly signer: User | undefined
}

/** Reasons of failures. Clients know these words of Gitea. */
export const NOT_SIGNED = failed('gpg.error.not_signed_commit')
const NO_KEY = failed('gpg.error.no_gpg_keys_found')
const MALFORMED = failed('gpg.error.extract_sign')
const TOO_LARGE = failed('gpg.error.generate_hash')
const BUSY = failed('gpg.error.failed_retrieval_gpg_keys')
const BAD = failed('gpg.error.probable_bad_signature')

function failed(reason: string): Verification {
  return { isVerified: false, reason, signer: undefined }
}

/** Maximum size of the signed bytes, which are hashed on the event loop. */
const PAYLOAD_BYTES_MAX = 1_048_576

/**
 * Returns the verifications in the given order. An object is verified if its signature is by a key
 * of the user who has the verified address of its committer, as of now. `users` are the accounts by
 * address in lower case that may be named; by default all.
 */
export async function verifySignatures(
  context: Context,
  objects: readonly SignedObject[],
  users?: ReadonlyMap<string, User>,
): Promise<readonly Verification[]> {
  const signed = objects.filter(({ signature }) => signature !== undefined)
  if (signed.length === 0) return objects.map(() => NOT_SIGNED)
  const known =
    users ??
    (await findUsersByEmail(
      context.db,
      signed.map(({ email }) => email),
    ))
  const claims = objects.map((object) => claimOf(object, known.get(foldCase(object.email))))
  const ofSsh = await verifySshClaims(context, claims.filter(isClaim).filter(isSsh))
  const ofOpenpgp = await verifyOpenpgpClaims(
    context,
    claims.filter(isClaim).filter((claim) => !isSsh(claim)),
  )
  return claims.map((claim) =>
    isClaim(claim) ? (ofSsh.get(claim) ?? ofOpenpgp.get(claim) ?? NO_KEY) : claim,
  )
}

/** Returns what `verifySignatures` needs of a commit. */
export function signedCommit({ id, committer, signature }: Commit): SignedObject {
  return { id, email: committer.email, signature }
}

/** Returns what `verifySignatures` needs of a tag. */
export function signedTag({ id, tagger, signature }: Tag): SignedObject {
  return { id, email: tagger?.email ?? '', signature }
}

/** A signature that a user is said to have made. */
interface Claim extends SignedBytes {
  readonly id: string
  readonly email: string
  readonly user: User
}

function claimOf({ id, email, signature }: SignedObject, user: User | undefined) {
  if (signature === undefined) return NOT_SIGNED
  if (user === undefined) return NO_KEY
  if (signature.payload.length > PAYLOAD_BYTES_MAX) return TOO_LARGE
  return { id, email: foldCase(email), user, ...signature }
}

function isClaim(claim: Claim | Verification): claim is Claim {
  return 'armored' in claim
}

function isSsh({ armored }: Claim): boolean {
  return armored.startsWith(SSH_ARMOR)
}

type Verifications = ReadonlyMap<Claim, Verification>

async function verifySshClaims(context: Context, claims: readonly Claim[]): Promise<Verifications> {
  const parsed = claims.flatMap((claim) => {
    const signature = parseSshSignature(claim.armored)
    return signature === undefined ? [] : { claim, signature }
  })
  const fingerprints = [...new Set(parsed.map(({ signature }) => signature.fingerprint))]
  const owners = await usersOfFingerprints(context.db, fingerprints)
  const found = await Promise.all(
    parsed.map(async ({ claim, signature }): Promise<[Claim, Verification]> => {
      const { fingerprint } = signature
      if (owners.get(fingerprint) !== claim.user.id) return [claim, NO_KEY]
      const isRight = await verifySshSignature(signature, claim.payload)
      return [claim, isRight ? verified(claim, fingerprint) : NO_KEY]
    }),
  )
  return new Map(found)
}

function verified({ user }: Claim, key: string): Verification {
  return { isVerified: true, reason: `${user.name} / ${key}`, signer: user }
}

async function verifyOpenpgpClaims(
  context: Context,
  claims: readonly Claim[],
): Promise<Verifications> {
  const userIds = [...new Set(claims.map(({ user }) => user.id))]
  const keys = await listGpgKeysOf(context.db, userIds)
  const found = await Promise.all(
    userIds.map((userId) =>
      verifyOfUser(
        context,
        claims.filter(({ user }) => user.id === userId),
        keys.filter((key) => key.userId === userId),
      ),
    ),
  )
  return new Map(found.flat())
}

async function verifyOfUser(
  { openpgp }: Context,
  claims: readonly Claim[],
  keys: readonly GpgKey[],
): Promise<ReadonlyArray<readonly [Claim, Verification]>> {
  if (keys.length === 0) return claims.map((claim) => [claim, NO_KEY])
  const verdicts = await openpgp.verifyObjects(claims, {
    ownerId: keys[0]?.userId ?? 0,
    // A key that was removed and added again, with a revocation perhaps, has another time.
    state: keys.map(({ id, addedAtMs }) => `${id}:${addedAtMs}`).join(),
    keys: keys.map(({ content }) => content),
  })
  return claims.map((claim, at) => {
    const verdict = verdicts[at]
    if (verdict === undefined) return [claim, BUSY]
    if (verdict.kind === 'malformed') return [claim, MALFORMED]
    if (verdict.kind === 'unknown') return [claim, NO_KEY]
    if (verdict.kind === 'bad') return [claim, BAD]
    const key = keys[verdict.key]
    // A key without a proof of its owner counts for the addresses of its user ids only.
    const covers = key?.isVerified || key?.details.emails.includes(claim.email)
    return [claim, covers ? verified(claim, verdict.keyId) : NO_KEY]
  })
}
