/** What a client of the Swift registry takes, and whether that can be had (3.5). */

import { Failure } from '../../conf/failures.js'
import type { RequestHeaders } from '../../conf/http.js'

/** As the protocol names it, and as answers are labelled. */
const TYPES = {
  json: 'application/json',
  zip: 'application/zip',
  swift: 'text/x-swift',
} as const

export type Kind = keyof typeof TYPES

const REGISTRY = /^application\/vnd\.swift\.registry(?:\.v([^+]*))?(?:\+(.*))?$/

/**
 * Passes whoever takes an answer of that kind, also among others. Throws `bad_request` for a
 * version of the protocol that there is not, `unsupported_media_type` for anything else.
 */
export function checkAccept(headers: RequestHeaders, kind: Kind): void {
  const accept = headers.get('accept')?.trim() ?? ''
  if (accept === '') return
  const wanted = accept.split(',').flatMap(typeOf)
  if (wanted.some((type) => fits(type, kind))) return
  if (wanted.some((type) => (REGISTRY.exec(type)?.[1] ?? '1') !== '1')) {
    throw new Failure('bad_request', 'invalid API version: there is version 1')
  }
  throw new Failure(
    'unsupported_media_type',
    `unsupported media type: this is application/vnd.swift.registry.v1+${kind}`,
  )
}

/** One that is not wanted at all is none. */
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
