/** The setting for the storage of package files: a folder or an S3 bucket. */

import { resolve } from 'node:path'
import { asBoolean, asText } from './field.js'

export type BlobLocation = { readonly kind: 'files'; readonly folder: string } | S3Location

export interface S3Location {
  readonly kind: 's3'
  /** `http://host:port` or `https://host:port`. */
  readonly origin: string
  readonly bucket: string
  /** A prefix of every object key: empty, or with a slash at the end. */
  readonly prefix: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
}

/**
 * Parses `file:PATH` or `s3://…`. Throws an Error that names the accepted form. Its message never
 * contains the value, because that may hold a secret.
 */
export function asBlobLocation(value: unknown): BlobLocation {
  const text = asText(value)
  if (text.startsWith('file:') && text.length > 'file:'.length) {
    return { kind: 'files', folder: resolve(text.slice('file:'.length)) }
  }
  if (text.startsWith('s3:')) return s3LocationOf(text)
  throw new Error(`must be file:PATH or ${S3_FORM}`)
}

const S3_FORM = 's3://key:secret@host:port/bucket'
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/
/** Characters that need no percent-encoding, so that the signed and the sent path are the same. */
const PREFIX = /^(?:[A-Za-z0-9_][A-Za-z0-9._-]*\/)*$/
const REGION = /^[A-Za-z0-9-]+$/

function s3LocationOf(text: string): S3Location {
  if (!URL.canParse(text)) throw new Error(`must be ${S3_FORM}, with %40 for @ in key and secret`)
  const { host, username, password, pathname, searchParams, hash } = new URL(text)
  const origin = `${isTlsOf(searchParams) ? 'https' : 'http'}://${host}`
  if (host === '' || hash !== '' || !URL.canParse(origin)) throw new Error(`must be ${S3_FORM}`)
  if (username === '' || password === '') throw new Error(`must have key and secret: ${S3_FORM}`)
  const [, bucket = '', ...folders] = pathname.split('/')
  if (!BUCKET.test(bucket)) throw new Error(`must have the name of a bucket: ${S3_FORM}`)
  const prefix = folders.map((folder) => `${folder}/`).join('')
  if (!PREFIX.test(prefix)) throw new Error('must have a prefix of letters, digits, ., _, - and /')
  const region = searchParams.get('region') ?? 'us-east-1'
  if (!REGION.test(region)) throw new Error('must have a region of letters, digits and -')
  for (const name of searchParams.keys()) {
    if (!['region', 'tls'].includes(name)) throw new Error('must have only region, tls after ?')
  }
  const [accessKey, secretKey] = [decoded(username), decoded(password)]
  return { kind: 's3', origin, bucket, prefix, region, accessKey, secretKey }
}

function isTlsOf(parameters: URLSearchParams): boolean {
  try {
    return asBoolean(parameters.get('tls') ?? true)
  } catch {
    throw new Error('must have tls=true or tls=false')
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('must have %25 for % in key and secret')
  }
}
