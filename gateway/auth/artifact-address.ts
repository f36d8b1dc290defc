/**
 * Addresses of artifacts, which their signature opens without other credentials: tools upload and
 * download with clients of Azure's blob storage, which send none.
 */

import { timingSafeEqual } from 'node:crypto'
import type { InstanceSecret } from '../../conf/instance-secret.js'

/** The only thing that an address permits. */
export interface AddressSubject {
  readonly mode: 'upload' | 'download'
  /** Id of the artifact for an upload, and of the file for a download. */
  readonly id: number
}

/** Parameter of the query that has the text of an address. */
export const ADDRESS_PARAMETER = 'address'

const WORDS = 'addresses of artifacts'

/**
 * Returns the text of an address: a JSON array and its signature. The signature covers the text as
 * it is sent, so that no digit can move from one field to another.
 */
export function addressOf(
  secret: Pick<InstanceSecret, 'sign'>,
  { mode, id }: AddressSubject,
  expiresAtMs: number,
): string {
  const signed = Buffer.from(JSON.stringify([mode, id, expiresAtMs])).toString('base64url')
  return `${signed}.${secret.sign(signed, WORDS).toString('base64url')}`
}

/** Returns the subject of an address; undefined if it is forged, malformed or out of date. */
export function readAddress(
  secret: Pick<InstanceSecret, 'sign'>,
  text: string,
  nowMs: number,
): AddressSubject | undefined {
  const [signed = '', signature = '', ...rest] = text.split('.')
  const wanted = secret.sign(signed, WORDS)
  const given = Buffer.from(signature, 'base64url')
  if (rest.length > 0 || given.length !== wanted.length) return undefined
  if (!timingSafeEqual(given, wanted)) return undefined
  const [mode, id, expiresAtMs] = JSON.parse(Buffer.from(signed, 'base64url').toString())
  return nowMs < expiresAtMs ? { mode, id } : undefined
}
