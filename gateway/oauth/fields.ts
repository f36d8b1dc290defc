/** Parser of OAuth request bodies, which are forms or JSON. */

import type { Request } from '../../conf/http.js'
import type { OauthFields } from '../auth/oauth-client.js'
import { OauthFailure } from '../auth/oauth-failure.js'
import { readBody } from '../http/incoming-body.js'

const BYTES_MAX = 65_536

/** Reads the fields of a body. Throws `invalid_request` for other types and repeated fields. */
export async function readOauthFields(request: Request): Promise<OauthFields> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  const declared = Number(request.headers.get('content-length') ?? 0)
  const text = (await readBody(request.body, BYTES_MAX, declared)).toString()
  if (type === 'application/x-www-form-urlencoded') return fieldsOf([...new URLSearchParams(text)])
  if (type === 'application/json') return fieldsOf(entriesOf(text))
  throw new OauthFailure('invalid_request', 'Send a form or a JSON object.')
}

function fieldsOf(entries: ReadonlyArray<readonly [string, string]>): OauthFields {
  const fields = new Map(entries)
  if (fields.size === entries.length) return fields
  throw new OauthFailure('invalid_request', 'A field is repeated.')
}

function entriesOf(text: string): ReadonlyArray<readonly [string, string]> {
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw noFields()
  return Object.entries(value).map(([name, field]) => {
    if (typeof field !== 'string') throw noFields()
    return [name, field]
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw noFields()
  }
}

function noFields(): OauthFailure {
  return new OauthFailure(
    'invalid_request',
    'The body must be a JSON object whose values are strings.',
  )
}
