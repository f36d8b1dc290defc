/** Blob storage in a bucket of S3 or of an S3-compatible server. */

import { openAsBlob } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { S3mini, S3NetworkError, S3ServiceError, type UploadPart } from 's3mini'
import type { S3Location } from '../../conf/blob-location.js'
import { Failure } from '../../conf/failures.js'
import { readOnce } from '../../conf/lib/chunks.js'
import { fetchWithTimeout, readWithTimeout } from './in-time.js'
import { keyOfObject, objectNameOf } from './object-name.js'
import { presignedUrl } from './presigned-url.js'
import type { BlobStorage, ByteRange, IncomingFile, StoredBlob } from './storage.js'

export interface S3StorageOptions {
  readonly location: S3Location
  /** Folder in which uploads are received; created if it does not exist. */
  readonly incomingFolder: string
  /** True if clients are redirected to the bucket. */
  readonly isRedirected: boolean
  /** Part size; larger blobs are sent as multipart uploads. */
  readonly partBytes?: number
  /** Timeout for a response, and for each chunk of its body. */
  readonly timeoutMs?: number
}

/** Part size; with the limit of 10,000 parts, the largest blob has 312 GiB. */
const PART_BYTES = 33_554_432
const TIMEOUT_MS = 30_000
const REDIRECT_SECONDS = 300

/** Opens the storage in an existing bucket. Does not connect to the server yet. */
export async function openS3Storage(options: S3StorageOptions): Promise<BlobStorage> {
  const { location, incomingFolder, isRedirected } = options
  const { partBytes = PART_BYTES, timeoutMs = TIMEOUT_MS } = options
  await mkdir(incomingFolder, { recursive: true, mode: 0o700 })
  const clientOf = createClients(location, timeoutMs)
  const nameOf = (key: string) => location.prefix + objectNameOf(key)
  return {
    incomingFolder,
    put: async (key, file) => send(clientOf(), { name: nameOf(key), file, partBytes }),
    open: async (key, range) => read(clientOf(), { name: nameOf(key), range, timeoutMs }),
    pathOf: () => undefined,
    sizeOf: async (key) => sizeOf(clientOf(), nameOf(key)),
    async remove(key) {
      const name = nameOf(key)
      await withRetry(() => clientOf().deleteObject(name)).catch(unlessNotFound)
    },
    list: () => list(clientOf, location.prefix),
    async directUrl(key, { method, contentType, contentDisposition }) {
      if (!isRedirected) return undefined
      const query = {
        'response-content-type': contentType,
        'response-content-disposition': contentDisposition,
      }
      const address = `${endpointOf(location)}/${nameOf(key)}`
      const [expiresSeconds, now] = [REDIRECT_SECONDS, new Date()]
      return presignedUrl(location, { method, address, query, expiresSeconds, now })
    },
  }
}

const endpointOf = ({ origin, bucket }: S3Location) => `${origin}/${bucket}`

/** Creates a client for each day, because a client signs with the key of the day it was created. */
function createClients(location: S3Location, timeoutMs: number): () => S3mini {
  let day = ''
  let client: S3mini | undefined
  return () => {
    const today = new Date().toISOString().slice(0, 'yyyy-mm-dd'.length)
    if (client === undefined || day !== today) {
      day = today
      client = new S3mini({
        accessKeyId: location.accessKey,
        secretAccessKey: location.secretKey,
        endpoint: endpointOf(location),
        region: location.region,
        fetch: (input, init) => fetchWithTimeout(input, init ?? {}, timeoutMs),
      })
    }
    return client
  }
}

/**
 * Runs an operation. Repeats it once after a connection error, because the server can have closed
 * an idle connection. Throws a `Refusal` if the object does not exist or is shorter than the
 * requested range, and `unavailable` after a second connection error and for each other error
 * response: also a wrong key, which an administrator can correct while clients repeat the request.
 */
async function withRetry<T>(operation: () => Promise<T>, { isRepeatable = true } = {}): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    if (error instanceof S3ServiceError) throw refusalOf(error)
    if (isRepeatable && isBrokenConnection(error))
      return withRetry(operation, { isRepeatable: false })
    throw unavailable(error)
  }
}

/** Returns true for connection errors, as thrown by `fetch` or the client; false for timeouts. */
const isBrokenConnection = (error: unknown): boolean =>
  error instanceof TypeError || error instanceof S3NetworkError

/**
 * Error response of the server, with its code and message. The rest of its text is left out,
 * because it contains the access key and the signature.
 */
class Refusal extends Error {
  readonly status: number

  constructor({ status, serviceCode, body }: S3ServiceError) {
    const message = /<Message>([^<]{1,300})/.exec(body ?? '')?.[1] ?? ''
    const code = serviceCode ?? ''
    super(`S3 answered ${status} ${code}${message === '' ? '' : `: ${message}`}`)
    this.status = status
  }
}

/** Codes of S3 for a bucket or an unfinished upload that does not exist; others are of objects. */
const NO_CONTAINER = ['NoSuchBucket', 'NoSuchUpload']

function refusalOf(error: S3ServiceError): Error {
  const refusal = new Refusal(error)
  const isOfObject =
    error.status === 416 ||
    (error.status === 404 && !NO_CONTAINER.includes(error.serviceCode ?? ''))
  return isOfObject ? refusal : unavailable(refusal)
}

function unavailable(cause: unknown): Failure {
  const message = 'The storage of files is not available. Try again in a few seconds.'
  return new Failure('unavailable', message, { cause, retryAfterSeconds: 5 })
}

/** Returns true if the object does not exist. */
const isMissing = (error: unknown): boolean => error instanceof Refusal && error.status === 404

function unlessNotFound(error: unknown): void {
  if (!isMissing(error)) throw error
}

interface Sending {
  readonly name: string
  readonly file: IncomingFile
  readonly partBytes: number
}

async function send(client: S3mini, { name, file, partBytes }: Sending): Promise<void> {
  const { path, bytes } = file
  try {
    if ((await stat(path)).size !== bytes) throw new Error(`${path} does not have ${bytes} bytes`)
    const content = await openAsBlob(path)
    if (bytes <= partBytes) await withRetry(() => client.putObject(name, content))
    else await sendInParts(client, { name, content, partBytes })
  } finally {
    await rm(path, { force: true })
  }
}

interface SendingInParts {
  readonly name: string
  readonly content: Blob
  readonly partBytes: number
}

async function sendInParts(client: S3mini, sending: SendingInParts): Promise<void> {
  const { name } = sending
  const uploadId = await withRetry(() => client.getMultipartUploadId(name))
  try {
    const parts = await sendParts(client, { ...sending, uploadId })
    // Not repeated, because the upload no longer exists if the first request has completed it.
    const complete = () => client.completeMultipartUpload(name, uploadId, [...parts])
    const { etag } = await withRetry(complete, { isRepeatable: false })
    // The server reports a late failure in the body of a 200 response.
    if (typeof etag !== 'string') throw unavailable(new Error('S3 did not complete the upload'))
  } catch (error) {
    // If this fails, the server removes the parts by its lifecycle rule for incomplete uploads.
    await withRetry(() => client.abortMultipartUpload(name, uploadId)).catch(() => {})
    throw error
  }
}

/** Number of parts of one blob that are sent concurrently. */
const CONCURRENT_PARTS = 2

/** Sends all parts. No part is in flight when it returns or throws. */
async function sendParts(
  client: S3mini,
  { name, content, partBytes, uploadId }: SendingInParts & { readonly uploadId: string },
): Promise<readonly UploadPart[]> {
  const parts: UploadPart[] = []
  const offsets = [...Array(Math.ceil(content.size / partBytes)).keys()].map((at) => at * partBytes)
  const left = offsets.entries()
  let hasFailed = false
  const sendNext = async () => {
    for (const [at, offset] of left) {
      if (hasFailed) return
      const part = content.slice(offset, offset + partBytes)
      parts[at] = await withRetry(() => client.uploadPart(name, uploadId, part, at + 1))
    }
  }
  const lanes = [...Array(CONCURRENT_PARTS)].map(() =>
    sendNext().catch((error: unknown) => {
      hasFailed = true
      throw error
    }),
  )
  for (const { reason } of (await Promise.allSettled(lanes)).filter(isRejected)) throw reason
  return parts
}

const isRejected = (result: PromiseSettledResult<void>): result is PromiseRejectedResult =>
  result.status === 'rejected'

interface Reading {
  readonly name: string
  readonly range: ByteRange
  readonly timeoutMs: number
}

async function read(client: S3mini, reading: Reading): Promise<AsyncIterable<Uint8Array>> {
  const { name, range, timeoutMs } = reading
  if (range.start === range.end) {
    // An empty range cannot be requested (RFC 9110 §14.1.2).
    if (!(await withRetry(() => client.objectExists(name)))) throw missing(name)
    return readOnce(
      async () => ({ done: true, value: undefined }),
      () => {},
    )
  }
  const { start, end } = range
  const answer = await withRetry(() => client.getObjectRaw(name, false, start, end)).catch(
    (error) => {
      if (isMissing(error)) throw missing(name)
      if (error instanceof Refusal && error.status === 416) throw tooShort(name)
      throw error
    },
  )
  const { next, leave } = readWithTimeout(answer, timeoutMs)
  if (!answer.headers.get('content-range')?.startsWith(`bytes ${start}-${end - 1}/`)) {
    await leave()
    throw tooShort(name)
  }
  const nextOrUnavailable = () =>
    next().catch((error: unknown) => {
      throw unavailable(error)
    })
  return readOnce(nextOrUnavailable, leave)
}

const missing = (name: string) => new Error(`the blob ${name} is missing`)
const tooShort = (name: string) => new Error(`the blob ${name} is shorter than it was`)

async function sizeOf(client: S3mini, name: string): Promise<number | undefined> {
  const requested = () =>
    client.getContentLength(name).catch((error: Error) => {
      // The client wraps the response of the server.
      throw error.cause ?? error
    })
  return await withRetry(requested).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}

const PAGE_OBJECTS = 1_000

async function* list(clientOf: () => S3mini, prefix: string): AsyncGenerator<StoredBlob> {
  let token: string | undefined
  do {
    const from = token
    const page = await withRetry(() => clientOf().listObjectsPaged('/', prefix, PAGE_OBJECTS, from))
    if (!page) throw unavailable(new Error('S3 has no such bucket'))
    for (const { Key, LastModified, Size } of page.objects ?? []) {
      const key = keyOfObject(Key.slice(prefix.length))
      if (key !== undefined) yield { key, writtenAtMs: LastModified.getTime(), bytes: Size }
    }
    token = page.nextContinuationToken
  } while (token !== undefined)
}
