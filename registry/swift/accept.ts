/** The `Accept` header of Swift clients (Swift Package Registry, 3.5 "API versioning"). */

import { Failure } from '../../conf/failures.js'
import type { RequestHeaders } from '../../conf/http.js'

/** Content types by their names in the protocol's media types. */
const TYPES = {
  json: 'application/json',
  zip: 'application/zip',
  swift: 'text/x-swift',
} as const

export type Kind = keyof typeof TYPES

const REGISTRY = /^application\/vnd\.swift\.registry(?:\.v([^+]*))?(?:\+(.*))?$/

/**
 * Checks that the client accepts replies of that kind. Throws `bad_request` if it requests another
 * version of the protocol, and `unsupported_media_type` if it accepts only other kinds.
 */
export function checkAccept(headers: RequestHeaders, kind: Kind): void {
  const accept = headers.get('accept')?.trim() ?? ''
  if (accept === '') return
  const wanted = accept.split(',').flatMap(typeOf)
  if (wanted.some((type) => fits(type, kind))) return
  if (wanted.some((type) => (REGISTRY.exec(type)?.[1] ?? '1') !== '1')) {
    throw new Failure('bad_request', 'invalid API version: the registry supports version 1')
  }
  throw new Failure(
    'unsupported_media_type',
    `unsupported media type: accept application/vnd.swift.registry.v1+${kind}`,
  )
}

/** Returns the media type of a range; empty if its weight is 0 (RFC 9110 §12.4.2). */
function typeOf(range: string): readonly string[] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  return parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) ? [] : [type]
}

function fits(type: string, kind: Kind): boolean {
  const whole = TYPES[kind]
  if (type === '*/*' || type === whole) return true
  if (type === `${whole.slice(0, whole.indexOf('/'))}/*`) return true
  const match = REGISTRY.exec(type)
  return match !== null && (match[1] ?? '1') === '1' && (match[2] ?? kind) === kind
}
