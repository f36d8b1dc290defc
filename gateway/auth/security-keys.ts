/**
 * Security keys (WebAuthn Level 2), which an account with a second factor may use in place of
 * codes: registration and verification.
 */

import { randomBytes } from 'node:crypto'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { Failure } from '../../conf/failures.js'
import type { Settings } from '../../conf/settings.js'
import {
  acceptSignature,
  addSecurityKey,
  findSecurityKey,
  keepChallenge,
  listSecurityKeys,
  takeChallenge,
} from '../../sql/accounts/security-keys.js'
import type { User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import { type FactorContext, hasSecondFactor } from './second-factor.js'
import { hashToken } from './token.js'

/** Imports the library on first use, so that it does not delay the start of workers. */
const library = () => import('@simplewebauthn/server')
const libraryHelpers = () => import('@simplewebauthn/server/helpers')

type KeyContext = Pick<FactorContext, 'db' | 'settings'>

const CHALLENGE_MS = 5 * 60_000
const KEYS_MAX = 20
const NAME_CHARACTERS_MAX = 100
/** Maximum length of a browser's answer; an id of 1,023 bytes and an RSA key fit. */
const ANSWER_CHARACTERS_MAX = 16_384

/** COSE algorithm identifiers: EdDSA, ES256 and RS256. */
const ALGORITHMS = [-8, -7, -257]

/** Throws `invalid` for an invalid name, and `conflict` if the user cannot add a key. */
export async function refuseKeyName(db: Database, user: User, name: string): Promise<void> {
  if (name === '' || [...name].length > NAME_CHARACTERS_MAX) {
    throw new Failure('invalid', `Name the key, in at most ${NAME_CHARACTERS_MAX} characters.`)
  }
  if (!(await hasSecondFactor(db, user.id))) {
    throw new Failure('conflict', 'Set up a second factor first.')
  }
  if ((await listSecurityKeys(db, user.id)).length < KEYS_MAX) return
  throw new Failure('conflict', `An account has at most ${KEYS_MAX} keys: remove one first.`)
}

/** Returns the options for creating a credential (PublicKeyCredentialCreationOptionsJSON). */
export async function creationOptions({ db, settings }: KeyContext, user: User): Promise<object> {
  const { id, name } = user
  return {
    challenge: await newChallenge(db, { userId: id, ticketHash: undefined }),
    rp: { id: hostOf(settings), name: 'Gatehouse' },
    user: { id: Buffer.from(String(id)).toString('base64url'), name, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: await credentialsOf(db, user),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
    attestation: 'none',
    timeout: CHALLENGE_MS,
  }
}

/**
 * Returns the options for a signature at a sign-in (PublicKeyCredentialRequestOptionsJSON), or
 * undefined for a user without keys.
 */
export async function requestOptions(
  { db, settings }: KeyContext,
  user: User,
  ticketHash: string,
): Promise<object | undefined> {
  const allowCredentials = await credentialsOf(db, user)
  if (allowCredentials.length === 0) return undefined
  return {
    challenge: await newChallenge(db, { userId: user.id, ticketHash }),
    rpId: hostOf(settings),
    allowCredentials,
    userVerification: 'preferred',
    timeout: CHALLENGE_MS,
  }
}

export interface KeyToAdd {
  readonly user: User
  readonly name: string
  /** RegistrationResponseJSON, as text. */
  readonly answer: string
}

/** Adds the key that has answered. Throws `invalid` if the answer is not to a current challenge. */
export async function addKey(
  context: FactorContext,
  { user, name, answer }: KeyToAdd,
): Promise<void> {
  await refuseKeyName(context.db, user, name)
  const credential = await verifyCreation(context, user, answer).catch((error: unknown) => {
    if (error instanceof Failure) throw error
    const message = 'That is not the answer of a key to this page. Try again.'
    throw new Failure('invalid', `${message} (${reasonOf(error)})`, { cause: error })
  })
  await addSecurityKey(context.db, {
    userId: user.id,
    name,
    credentialId: credential.id,
    signCounter: credential.counter,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
  })
  context.log.info({ event: 'security-key-added', name: user.name }, 'a security key was added')
}

async function verifyCreation({ db, settings }: KeyContext, user: User, answer: string) {
  const response = parse<RegistrationResponseJSON>(answer)
  const { decodeAttestationObject, isoBase64URL } = await libraryHelpers()
  const attestation = isoBase64URL.toBuffer(response.response.attestationObject)
  const decoded = decodeAttestationObject(attestation)
  const format = decoded.get('fmt')
  const isSelfSigned = format === 'packed' && decoded.get('attStmt').get('x5c') === undefined
  // Certificates are not requested, and to verify one, the library would connect to the address
  // that the certificate names.
  if (format !== 'none' && !isSelfSigned) throw new Error(`it is attested (${format})`)
  const { verifyRegistrationResponse } = await library()
  const { registrationInfo } = await verifyRegistrationResponse({
    response,
    ...expectations({ db, settings }, { userId: user.id, ticketHash: undefined }),
    supportedAlgorithmIDs: ALGORITHMS,
  })
  if (registrationInfo === undefined) throw new Error('its signature is wrong')
  return registrationInfo.credential
}

export interface KeyAttempt {
  readonly user: User
  /** AuthenticationResponseJSON, as text. */
  readonly answer: string
  /** Hash of the ticket of the sign-in, to which the challenge belongs. */
  readonly ticketHash: string
  readonly address: string
}

/** Verifies a key's answer. Throws `bad_credentials`, and `throttled` after too many failures. */
export async function verifyKey(context: FactorContext, attempt: KeyAttempt): Promise<void> {
  const { user, address } = attempt
  await context.throttle.attempt({ name: user.name, address }, async () => {
    try {
      await verifyRequest(context, attempt)
    } catch (error) {
      if (error instanceof Failure) throw error
      context.log.warn(
        { event: 'sign-in-failed', address, name: user.name, reason: reasonOf(error) },
        'a security key was refused',
      )
      const message =
        'That was no key of this account, or its answer came too late. Try again, or use a code.'
      throw new Failure('bad_credentials', message, { cause: error })
    }
  })
}

async function verifyRequest(context: FactorContext, attempt: KeyAttempt): Promise<void> {
  const { db, settings, log } = context
  const { user, ticketHash } = attempt
  const response = parse<AuthenticationResponseJSON>(attempt.answer)
  const key = await findSecurityKey(db, user.id, response.id)
  if (key === undefined) throw new Error('it is no key of the account')
  const { verifyAuthenticationResponse } = await library()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    ...expectations({ db, settings }, { userId: user.id, ticketHash }),
    // The signature counter is checked below, atomically for all processes.
    credential: { id: response.id, publicKey: bytesOf(key.publicKey), counter: 0 },
  })
  if (!verified) throw new Error('its signature is wrong')
  if (await acceptSignature(db, key.id, authenticationInfo.newCounter)) return
  log.warn(
    { event: 'security-key-copied', address: attempt.address, name: user.name, key: key.name },
    'the signature counter of a security key did not increase: there may be a copy of the key',
  )
  throw new Error('its signature counter did not increase')
}

interface Purpose {
  readonly userId: number
  readonly ticketHash: string | undefined
}

async function newChallenge(db: Database, purpose: Purpose): Promise<string> {
  const challenge = randomBytes(32).toString('base64url')
  await keepChallenge(db, { ...purpose, hash: hashToken(challenge) }, Date.now() + CHALLENGE_MS)
  return challenge
}

/** Returns what both ceremonies verify: an unused challenge for the purpose, and the origin. */
function expectations({ db, settings }: KeyContext, purpose: Purpose) {
  return {
    expectedChallenge: (challenge: string) =>
      takeChallenge(db, { ...purpose, hash: hashToken(challenge) }),
    expectedOrigin: new URL(settings.http.baseUrl).origin,
    expectedRPID: hostOf(settings),
    requireUserVerification: false,
  }
}

async function credentialsOf(db: Database, user: User) {
  const keys = await listSecurityKeys(db, user.id)
  return keys.map(({ credentialId }) => ({ type: 'public-key', id: credentialId }))
}

function hostOf({ http }: Settings): string {
  return new URL(http.baseUrl).hostname
}

function parse<T>(answer: string): T {
  if (answer.length > ANSWER_CHARACTERS_MAX) throw new Error('it is too long')
  return JSON.parse(answer) as T
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64url'))
}

const REASON_CHARACTERS_MAX = 200

function reasonOf(error: unknown): string {
  return String(error instanceof Error ? error.message : error).slice(0, REASON_CHARACTERS_MAX)
}
