/** A software security key, whose replies tests can forge. */

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { BASE_URL } from './gateway.js'

/** Options of a WebAuthn request, as a page has them. */
interface Options {
  readonly challenge: string
}

/** Forged values of a reply. */
export interface Forgery {
  readonly origin?: string
  readonly host?: string
  readonly challenge?: string
  readonly type?: string
  /** Signature counter; by default one more than before. */
  readonly counter?: number
  readonly isPresent?: boolean
  /** Credential id in the reply. */
  readonly id?: string
  /** Attestation; by default `none`, with an empty statement (CBOR). */
  readonly attestation?: { readonly format: string; readonly statement: Buffer }
  /** True for self attestation (with the credential key). */
  readonly isSelfSigned?: boolean
}

export interface SoftwareKey {
  readonly id: string
  /** Returns the reply to an enrolment (RegistrationResponseJSON). */
  create(options: object, twist?: Forgery): string
  /** Returns the reply at a sign-in (AuthenticationResponseJSON). */
  get(options: object, twist?: Forgery): string
}

const PRESENT = 0x01
const HAS_CREDENTIAL = 0x40

/** Creates a key with one credential. */
export function aSecurityKey(): SoftwareKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credential = randomBytes(32)
  const id = credential.toString('base64url')
  let counter = 0
  function signed(flags: number, twist: Forgery): Buffer {
    counter = twist.counter ?? counter + 1
    const head = Buffer.alloc(37)
    sha256(twist.host ?? new URL(BASE_URL).hostname).copy(head)
    head.writeUInt8(flags | (twist.isPresent === false ? 0 : PRESENT), 32)
    head.writeUInt32BE(counter, 33)
    return head
  }
  return {
    id,
    create(options, twist = {}) {
      const length = Buffer.from([0, credential.length])
      const authData = Buffer.concat([
        signed(HAS_CREDENTIAL, twist),
        Buffer.alloc(16),
        length,
        credential,
        coseKey(publicKey),
      ])
      const data = clientData('webauthn.create', options, twist)
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey)
      const none = { format: 'none', statement: Buffer.from([0xa0]) }
      const own = { format: 'packed', statement: statementOf(signature) }
      const { format, statement } = twist.attestation ?? (twist.isSelfSigned ? own : none)
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        text('fmt'),
        text(format),
        text('attStmt'),
        statement,
        text('authData'),
        Buffer.from([0x58, authData.length]),
        authData,
      ])
      return answerOf(twist.id ?? id, {
        clientDataJSON: data.toString('base64url'),
        attestationObject: attestation.toString('base64url'),
      })
    },
    get(options, twist = {}) {
      const authData = signed(0, twist)
      const data = clientData('webauthn.get', options, twist)
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey)
      return answerOf(twist.id ?? id, {
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
      })
    },
  }
}

function answerOf(id: string, response: object): string {
  const common = { id, rawId: id, type: 'public-key', clientExtensionResults: {} }
  return JSON.stringify({ ...common, response })
}

function clientData(type: string, options: object, twist: Forgery): Buffer {
  const { challenge } = options as Options
  const data = { type, challenge, origin: BASE_URL, crossOrigin: false }
  const { origin = data.origin } = twist
  const twisted = { type: twist.type ?? type, challenge: twist.challenge ?? challenge, origin }
  return Buffer.from(JSON.stringify({ ...data, ...twisted }))
}

/** Returns the attestation statement {"alg": -7, "sig": signature} in CBOR. */
function statementOf(signature: Buffer): Buffer {
  const algorithm = Buffer.from([0x26])
  const length = Buffer.from([0x58, signature.length])
  return Buffer.concat([
    Buffer.from([0xa2]),
    text('alg'),
    algorithm,
    text('sig'),
    length,
    signature,
  ])
}

/** Returns a string of less than 24 bytes in CBOR (RFC 8949). */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
}

/** Returns a P-256 key in COSE (RFC 9053): {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  return Buffer.concat([
    Buffer.from('a501020326200121', 'hex'),
    Buffer.from([0x58, 32]),
    Buffer.from(x, 'base64url'),
    Buffer.from([0x22, 0x58, 32]),
    Buffer.from(y, 'base64url'),
  ])
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
