/** Blobs in S3: conformance of the storage, with a real server and one that misbehaves. */

import { access } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { objectNameOf } from '../../../registry/storage/object-name.js'
import { openS3Storage, type S3StorageOptions } from '../../../registry/storage/s3.js'
import {
  blobStorageConforms,
  contentOf,
  keep,
  keyOf,
  read,
  receive,
} from '../../conformance/blob-storage.js'
import { freePort } from '../../helpers/free-port.js'
import { type Misbehave, startProxy } from '../../helpers/proxy.js'
import { S3_SECRET, s3LocationOf } from '../../helpers/s3-server.js'
import { sharedS3Server } from '../../helpers/shared-s3-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'

/** Minimum size that S3 accepts for a part that is not the last one. */
const PART_BYTES = 5_242_880
const LARGE_BYTES = PART_BYTES * 2 + 7

const server = await sharedS3Server()

async function openAt(t: Test, url: string, options: Partial<S3StorageOptions> = {}) {
  const incomingFolder = join(await temporaryFolder(t), 'data', 'uploads')
  const own = { incomingFolder, isRedirected: true, partBytes: PART_BYTES }
  return openS3Storage({ location: s3LocationOf(url), ...own, ...options })
}

blobStorageConforms(t, {
  open: async (t) => openAt(t, await server.createBucket()),
  largeBytes: LARGE_BYTES,
})

/** Opens a storage behind a proxy that can be made to misbehave. */
async function openBehind(t: Test, options: Partial<S3StorageOptions> = {}) {
  const bucket = await server.createBucket()
  const proxy = await startProxy(t, server.port)
  const url = bucket.replace(`:${server.port}/`, `:${proxy.port}/`)
  return { proxy, url, storage: await openAt(t, url, options), look: () => server.list(bucket) }
}

/** Misbehaves for the given number of matching requests. */
function once(
  matches: (request: IncomingMessage) => boolean,
  answer: (response: ServerResponse, request: IncomingMessage) => unknown,
  times = 1,
): Misbehave {
  let left = times
  return (request, response) => {
    if (left === 0 || !matches(request)) return false
    left -= 1
    answer(response, request)
    return true
  }
}

const isPut = ({ method }: IncomingMessage) => method === 'PUT'
const isGet = ({ method }: IncomingMessage) => method === 'GET'
const isSecondPart = ({ url }: IncomingMessage) => url?.includes('partNumber=2') === true
const isCompletion = ({ method, url }: IncomingMessage) =>
  method === 'POST' && url?.includes('uploadId=') === true
const breakOff = (response: ServerResponse) => response.destroy()
const refuse = (status: number) => (response: ServerResponse, request: IncomingMessage) => {
  request.resume().on('end', () => response.writeHead(status).end())
}

/**
 * Checks that the promise rejects with `unavailable` and that no cause contains the credentials.
 */
async function isUnavailable(t: Test, promise: Promise<unknown>, name: string) {
  const error = await promise.catch((thrown: unknown) => thrown)
  t.ok(isFailure(error, 'unavailable'), `${name}: ${error}`)
  t.match(error, { status: 503, retryAfterSeconds: Number })
  revealsNothing(t, error)
}

function revealsNothing(t: Test, error: unknown) {
  const told = inspect(error, { depth: 20, showHidden: true })
  for (const word of [S3_SECRET, encodeURIComponent(S3_SECRET), 'test:tester', 'Signature=']) {
    t.notOk(told.includes(word), `${word} is not in the error`)
  }
}

t.test('objects are below the prefix, and others are not listed', async (t) => {
  const bucket = await server.createBucket()
  const [inner, outer] = [await openAt(t, bucket.replace('?', '/a/b?')), await openAt(t, bucket)]
  const content = contentOf(10)
  const key = await keep(inner, content)
  const other = await keep(outer, content)
  const { objects } = await server.list(bucket)
  t.strictSame(new Set(objects), new Set([`a/b/${objectNameOf(key)}`, objectNameOf(other)]))
  for (const [storage, listed] of [[inner, key] as const, [outer, other] as const]) {
    const keys = []
    for await (const blob of storage.list()) keys.push(blob.key)
    t.strictSame(keys, [listed])
  }
  t.ok((await read(inner, key, 0, 10)).equals(content))
  await inner.remove(key)
  t.strictSame((await server.list(bucket)).objects, [objectNameOf(other)])
})

t.test('a large blob is uploaded in parts, and no part is left', async (t) => {
  const { proxy, storage, look } = await openBehind(t)
  const parts: string[] = []
  proxy.misbehave = ({ url = '', headers }) => {
    const part = /partNumber=(\d+)/.exec(url)?.[1]
    if (part !== undefined) parts.push(`${part}: ${headers['content-length']}`)
    return false
  }
  const key = await keep(storage, contentOf(LARGE_BYTES))
  t.strictSame(parts.sort(), ['1: 5242880', '2: 5242880', '3: 7'])
  t.strictSame(await look(), { objects: [objectNameOf(key)], uploads: [] })
})

t.test('an upload whose parts cannot be sent or completed leaves nothing', async (t) => {
  const { proxy, storage, look } = await openBehind(t)
  const late = '<?xml version="1.0"?><Error><Code>InternalError</Code></Error>'
  const faults: readonly (readonly [string, Misbehave])[] = [
    ['a part is refused', once(isSecondPart, refuse(500))],
    ['a part breaks off, twice', once(isSecondPart, breakOff, 2)],
    ['the end is refused', once(isCompletion, refuse(503))],
    ['the end breaks off', once(isCompletion, breakOff)],
    ['the end is refused late', once(isCompletion, (response) => response.end(late))],
  ]
  for (const [name, misbehave] of faults) {
    proxy.misbehave = misbehave
    const content = contentOf(LARGE_BYTES)
    const file = await receive(storage, content)
    await isUnavailable(t, storage.put(keyOf(content), file), name)
    await t.rejects(access(file.path), { code: 'ENOENT' })
    t.strictSame(await look(), { objects: [], uploads: [] }, name)
  }
})

t.test('after a refused part the rest is not sent', async (t) => {
  const { proxy, storage, look } = await openBehind(t, { partBytes: 1_000 })
  const content = contentOf(100_000)
  const refuseSecond = once(isSecondPart, refuse(500))
  let isAllSent = false
  proxy.misbehave = (request, response) => {
    isAllSent ||= request.url?.includes('partNumber=100') === true
    return refuseSecond(request, response)
  }
  const file = await receive(storage, content)
  await isUnavailable(t, storage.put(keyOf(content), file), 'the second of a hundred')
  t.notOk(isAllSent)
  t.strictSame(await look(), { objects: [], uploads: [] })
})

t.test('a broken connection is retried once', async (t) => {
  const { proxy, storage } = await openBehind(t)
  for (const bytes of [1_000, LARGE_BYTES]) {
    const content = contentOf(bytes)
    proxy.misbehave = once(bytes === 1_000 ? isPut : isSecondPart, breakOff)
    const key = await keep(storage, content)
    proxy.misbehave = once(isGet, breakOff)
    t.ok((await read(storage, key, 0, bytes)).equals(content))
  }
})

t.test('a server error, a missing answer and a refused connection are unavailable', async (t) => {
  const { proxy, storage, look } = await openBehind(t, { timeoutMs: 500 })
  const any = () => true
  const faults: readonly (readonly [string, Misbehave])[] = [
    ['503', once(any, refuse(503), Number.POSITIVE_INFINITY)],
    ['429', once(any, refuse(429), Number.POSITIVE_INFINITY)],
    ['breaks off', once(any, breakOff, Number.POSITIVE_INFINITY)],
    ['never answers', once(any, () => {}, Number.POSITIVE_INFINITY)],
  ]
  for (const [name, misbehave] of faults) {
    proxy.misbehave = misbehave
    const content = contentOf(1_000)
    const key = keyOf(content)
    const file = await receive(storage, content)
    await Promise.all([
      isUnavailable(t, storage.put(key, file), `put, ${name}`),
      isUnavailable(t, storage.open(key, { start: 0, end: 1 }), `open, ${name}`),
      isUnavailable(t, storage.open(key, { start: 0, end: 0 }), `open nothing, ${name}`),
      isUnavailable(t, storage.remove(key), `remove, ${name}`),
      isUnavailable(t, storage.list()[Symbol.asyncIterator]().next(), `list, ${name}`),
    ])
    await t.rejects(access(file.path), { code: 'ENOENT' })
  }
  t.strictSame(await look(), { objects: [], uploads: [] })
  const away = await openAt(t, `s3://key:secret@127.0.0.1:${await freePort()}/bucket?tls=false`)
  await isUnavailable(t, away.remove(keyOf(Buffer.of())), 'away')
})

t.test('a download that breaks off or stalls is unavailable and not complete', async (t) => {
  const { proxy, url, storage } = await openBehind(t)
  const key = await keep(storage, contentOf(1_000))
  const head = { 'Content-Length': 1_000, 'Content-Range': 'bytes 0-999/1000' }
  const begin = (response: ServerResponse) => response.writeHead(206, head).write('begun')
  proxy.misbehave = once(isGet, (response) => {
    begin(response)
    response.write('', () => response.destroy())
  })
  await isUnavailable(t, read(storage, key, 0, 1_000), 'breaks off')
  proxy.misbehave = once(isGet, begin)
  const impatient = await openAt(t, url, { timeoutMs: 200 })
  await isUnavailable(t, read(impatient, key, 0, 1_000), 'stops')
})

t.test('an answer with a wrong range is not passed on', async (t) => {
  const { proxy, storage } = await openBehind(t)
  const key = await keep(storage, contentOf(1_000))
  const answers = [
    [206, { 'Content-Range': 'bytes 0-9/1000' }],
    [200, { 'Accept-Ranges': 'none' }],
  ] as const
  for (const [status, headers] of answers) {
    proxy.misbehave = once(isGet, (response) => {
      response.writeHead(status, headers).end('0123456789')
    })
    await t.rejects(read(storage, key, 1, 11), { message: /shorter/ })
  }
})

t.test('a reader that stops ends the download at the server', async (t) => {
  const { proxy, storage } = await openBehind(t)
  const key = await keep(storage, contentOf(10))
  const closed = new Promise<boolean>((resolve) => {
    proxy.misbehave = once(isGet, (response) => {
      response.writeHead(206, { 'Content-Length': 1e9, 'Content-Range': 'bytes 0-999999999/*' })
      response.write('begun')
      response.once('close', () => resolve(response.writableFinished))
    })
  })
  for await (const _chunk of await storage.open(key, { start: 0, end: 1e9 })) break
  t.equal(await closed, false)
})

t.test(
  'a wrong secret or bucket is unavailable, with the answer of S3 and without the secret',
  async (t) => {
    const bucket = await server.createBucket()
    const wrong = await openAt(t, bucket.replace(/(?<=tester:)[^@]+/, 'hunter2'))
    const none = await openAt(t, bucket.replace('/bucket-', '/no-bucket-'))
    for (const [storage, code] of [
      [wrong, /S3 answered 403 SignatureDoesNotMatch: The request signature/] as const,
      [none, /S3 answered 404 NoSuchBucket: The specified bucket/] as const,
    ]) {
      const content = contentOf(1)
      const key = keyOf(content)
      for (const operation of [
        async () => storage.put(key, await receive(storage, content)),
        () => storage.open(key, { start: 0, end: 1 }),
        () => storage.remove(key),
      ]) {
        const error = await operation().catch((thrown: unknown) => thrown)
        t.ok(isFailure(error, 'unavailable'))
        t.match(error, { cause: { message: code }, retryAfterSeconds: Number })
        revealsNothing(t, error)
        t.notMatch(inspect(error, { depth: 20 }), /hunter2/)
      }
      await isUnavailable(t, storage.list()[Symbol.asyncIterator]().next(), 'list')
    }
  },
)

t.test('a redirected client gets the bytes with the requested content type', async (t) => {
  const bucket = await server.createBucket()
  const storage = await openAt(t, bucket)
  const key = await keep(storage, Buffer.from('text'))
  const contentType = 'application/vnd.x+json; charset=utf-8'
  for (const contentDisposition of [
    'attachment; filename="a b (1).txt"',
    `attachment; filename="?!*'(&=+).txt"; filename*=UTF-8''%C3%BC%20%28%2A%29!.txt`,
  ]) {
    const urls = { GET: '', HEAD: '' }
    for (const method of ['GET', 'HEAD'] as const) {
      const url = await storage.directUrl(key, { method, contentType, contentDisposition })
      urls[method] = String(url)
      const answer = await fetch(urls[method], { method })
      t.equal(answer.status, 200, `${method} ${contentDisposition}`)
      t.equal(answer.headers.get('content-type'), contentType)
      t.equal(answer.headers.get('content-disposition'), contentDisposition)
      t.equal(await answer.text(), method === 'GET' ? 'text' : '')
    }
    const misused = await fetch(urls.HEAD)
    t.equal(misused.status, 403, 'an address signed for HEAD is refused for GET')
    await misused.body?.cancel()
  }
})

t.test('all pages of a list are read', async (t) => {
  // The proxy answers alone, because a page has a thousand objects, which this test would have to
  // create.
  const { proxy, storage } = await openBehind(t)
  const keys = [...Array(1_001).keys()].map((at) => keyOf(Buffer.from(String(at))))
  const entries = keys.map(
    (key) =>
      `<Contents><Key>${objectNameOf(key)}</Key><Size>7</Size>` +
      '<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>',
  )
  proxy.misbehave = ({ url = '' }, response) => {
    const isFirst = !url.includes('continuation-token=next')
    const page = isFirst ? entries.slice(0, 1_000) : entries.slice(1_000)
    const more = isFirst ? '<NextContinuationToken>next</NextContinuationToken>' : ''
    response.setHeader('Content-Type', 'application/xml')
    response.end(
      `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isFirst}</IsTruncated>${more}` +
        `${page.join('')}</ListBucketResult>`,
    )
    return true
  }
  const listed = []
  for await (const blob of storage.list()) listed.push(blob)
  t.strictSame(
    listed,
    keys.map((key) => ({ key, writtenAtMs: Date.UTC(2026, 0, 2, 3, 4, 5), bytes: 7 })),
  )
})
