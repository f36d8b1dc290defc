/** Responses with a file: complete or in part, conditional, and as attachments. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Reply } from '../../conf/http.js'
import type { PackageFile } from '../../conf/package.js'
import { createBlobBodies } from '../../registry/blob-bodies.js'
import { lastModifiedTime } from '../../registry/conditions.js'
import type { ServeOptions } from '../../registry/package-store.js'
import { dispositionOf, serveFile } from '../../registry/serve.js'
import { openFileStorage } from '../../registry/storage/files.js'
import type { BlobStorage, DirectRequest } from '../../registry/storage/storage.js'
import { contentOf, keep } from '../conformance/blob-storage.js'
import { temporaryFolder } from '../helpers/temporary.js'

const CREATED_AT_MS = Date.parse('2025-06-15T12:00:00.750Z')
const DATE = 'Sun, 15 Jun 2025 12:00:00 GMT'
const BEFORE = 'Sun, 15 Jun 2025 11:59:59 GMT'

/** Sizes of a file that is cached in memory and of one that is not. */
const SIZES = [10, 200_000]

interface Input {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly options?: ServeOptions
  readonly storage?: BlobStorage
}

async function aFile(t: Test, bytes: number, createdAtMs = CREATED_AT_MS) {
  const files = await openFileStorage(join(await temporaryFolder(t), 'blobs'))
  const content = contentOf(bytes)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const file: PackageFile = {
    id: 1,
    name: 'tool.bin',
    compositeKey: '',
    bytes,
    downloads: 0,
    digests: { md5: '', sha1: '', sha256, sha512: '' },
    blobKey: await keep(files, content),
    createdAtMs,
  }
  const ask = async ({
    method = 'GET',
    headers = {},
    options = {},
    storage = files,
  }: Input = {}) => {
    const request = { method, headers: new Map(Object.entries(headers)) }
    const fixture = { storage, bodies: createBlobBodies(storage) }
    const dated = { ...file, changedAtMs: lastModifiedTime(createdAtMs) }
    const { reply, isDownload } = await serveFile(fixture, { file: dated, request, options })
    return { ...reply, isDownload, content: await contentOfReply(reply), of: headersOf(reply) }
  }
  return { file, files, content, tag: `"${sha256}"`, ask }
}

async function contentOfReply({ body }: Reply): Promise<Buffer | undefined> {
  if (body === undefined) return undefined
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function headersOf({ headers = [] }: Reply): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]))
}

for (const bytes of SIZES) {
  t.test(`a file of ${bytes} bytes is sent completely as attachment and counted`, async (t) => {
    const { ask, content, tag } = await aFile(t, bytes)
    const answer = await ask()
    t.match(answer, { status: 200, isDownload: true, bodyBytes: bytes })
    t.strictSame(answer.content, content)
    t.strictSame(answer.of, {
      etag: tag,
      'last-modified': DATE,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'access-control-expose-headers': 'Content-Disposition',
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="tool.bin"; filename*=UTF-8''tool.bin`,
    })
    const options = {
      contentType: 'application/zip',
      downloadName: 'other.zip',
      headers: [['X-Checksum', '1']] as const,
    }
    t.match((await ask({ options })).of, {
      'content-type': 'application/zip',
      'content-disposition': /filename="other\.zip"/,
      'x-checksum': '1',
      etag: tag,
    })
  })

  t.test(`HEAD for a file of ${bytes} bytes has all headers, no body and no count`, async (t) => {
    const { ask } = await aFile(t, bytes)
    const { of } = await ask()
    const head = await ask({ method: 'HEAD' })
    t.match(head, { status: 200, isDownload: false, bodyBytes: bytes, content: undefined })
    t.strictSame(head.of, of)
    const part = await ask({ method: 'HEAD', headers: { range: 'bytes=1-2' } })
    t.match(part, { status: 200, bodyBytes: bytes }, 'a range applies to GET only (RFC 9110 §14.2)')
  })

  t.test(`a part of a file of ${bytes} bytes is counted only if it is the first`, async (t) => {
    const { ask, content } = await aFile(t, bytes)
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 1],
      ['bytes=0-', 0, bytes],
      ['bytes=3-5', 3, 6],
      ['bytes=-4', bytes - 4, bytes],
      [`bytes=5-${bytes + 100}`, 5, bytes],
      [`bytes=-${bytes + 1}`, 0, bytes],
    ] as const) {
      const answer = await ask({ headers: { range } })
      t.match(answer, { status: 206, isDownload: start === 0, bodyBytes: end - start }, range)
      t.equal(answer.of['content-range'], `bytes ${start}-${end - 1}/${bytes}`)
      t.strictSame(answer.content, content.subarray(start, end), range)
    }
    for (const range of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=5-3', 'nonsense']) {
      const answer = await ask({ headers: { range } })
      t.match(answer, { status: 200, isDownload: true, bodyBytes: bytes }, range)
      t.notOk('content-range' in answer.of)
    }
    for (const range of [`bytes=${bytes}-`, 'bytes=-0']) {
      const answer = await ask({ headers: { range } })
      t.match(answer, { status: 416, isDownload: false, content: undefined }, range)
      t.equal(answer.of['content-range'], `bytes */${bytes}`)
    }
  })
}

t.test('a file has no Last-Modified within the seconds of its upload', async (t) => {
  const { ask } = await aFile(t, 10, Date.now())
  const { of } = await ask()
  t.notOk('last-modified' in of)
  t.ok(of['etag'])
  const since = await ask({ headers: { 'if-modified-since': new Date().toUTCString() } })
  t.equal(since.status, 200, 'another file may have been there in that second')
})

t.test('an empty file has no parts', async (t) => {
  const { ask } = await aFile(t, 0)
  const whole = await ask()
  t.match(whole, { status: 200, bodyBytes: 0, body: '', isDownload: true })
  t.match(await ask({ method: 'HEAD' }), { status: 200, bodyBytes: 0, content: undefined })
  const part = await ask({ headers: { range: 'bytes=0-' } })
  t.match(part, { status: 416, of: { 'content-range': 'bytes */0' } })
})

t.test('a client with the current file gets 304 with only the required headers', async (t) => {
  const { ask, tag } = await aFile(t, 10)
  for (const headers of [
    { 'if-none-match': tag },
    { 'if-none-match': `W/${tag}`, range: 'bytes=1-2' },
    { 'if-modified-since': DATE },
  ]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask({ method, headers })
      t.match(answer, { status: 304, isDownload: false, content: undefined, of: { etag: tag } })
      t.notOk('content-type' in answer.of || 'content-disposition' in answer.of)
    }
  }
  t.equal((await ask({ headers: { 'if-none-match': '"other"' } })).status, 200)
  t.equal((await ask({ headers: { 'if-modified-since': BEFORE } })).status, 200)
})

t.test('a failed precondition is 412', async (t) => {
  const { ask, tag } = await aFile(t, 10)
  for (const headers of [{ 'if-match': '"other"' }, { 'if-unmodified-since': BEFORE }]) {
    const answer = await ask({ headers: { ...headers, range: 'bytes=1-2' } })
    t.match(answer, { status: 412, isDownload: false, content: undefined })
  }
  t.equal((await ask({ headers: { 'if-match': tag, range: 'bytes=1-2' } })).status, 206)
  t.equal((await ask({ headers: { 'if-unmodified-since': DATE } })).status, 200)
})

t.test('If-Range sends a part only of the same file', async (t) => {
  const { ask, tag, content } = await aFile(t, 10)
  for (const [ifRange, status] of [
    [tag, 206],
    [DATE, 206],
    [`W/${tag}`, 200],
    ['"other"', 200],
    [BEFORE, 200],
    // Only the exact date matches (RFC 9110 §13.1.5).
    ['Sun, 15 Jun 2025 12:00:01 GMT', 200],
    ['', 200],
  ] as const) {
    const answer = await ask({ headers: { range: 'bytes=1-2', 'if-range': ifRange } })
    t.equal(answer.status, status, ifRange)
    t.strictSame(answer.content, status === 206 ? content.subarray(1, 3) : content)
  }
  const outside = { range: 'bytes=99-', 'if-range': '"other"' }
  t.equal((await ask({ headers: outside })).status, 200, 'of another file the whole is sent')
})

t.test('if the storage has direct addresses, the client is redirected', async (t) => {
  const { ask, file, files, tag } = await aFile(t, 10)
  const asked: (DirectRequest & { readonly key: string })[] = []
  // Represents S3, which signs addresses; file storage does not.
  const storage: BlobStorage = {
    ...files,
    open: () => Promise.reject(new Error('nothing is to be read here')),
    async directUrl(key, request) {
      asked.push({ key, ...request })
      return `https://s3.example.com/${key}?signature=1`
    },
  }
  const options = { contentType: 'application/zip', headers: [['X-Checksum', '1']] as const }
  const answer = await ask({ storage, options, headers: { range: 'bytes=0-3' } })
  t.match(answer, { status: 303, isDownload: true, content: undefined })
  t.strictSame(answer.of, {
    location: `https://s3.example.com/${file.blobKey}?signature=1`,
    'cache-control': 'no-store',
  })
  t.match(await ask({ storage, method: 'HEAD' }), { status: 303, isDownload: false })
  const contentDisposition = dispositionOf('tool.bin')
  t.strictSame(asked, [
    { key: file.blobKey, method: 'GET', contentType: 'application/zip', contentDisposition },
    {
      key: file.blobKey,
      method: 'HEAD',
      contentDisposition,
      contentType: 'application/octet-stream',
    },
  ])
  t.equal((await ask({ storage, headers: { 'if-none-match': tag } })).status, 304)
  t.equal(asked.length, 2, 'a client with the current file is not redirected')
})

t.test('a file name cannot break out of its header', async (t) => {
  for (const [name, plain, encoded] of [
    ['tool-1.0.zip', 'tool-1.0.zip', 'tool-1.0.zip'],
    ['a b;c=d', 'a b;c=d', 'a%20b%3Bc%3Dd'],
    ['"quoted".bin', '_quoted_.bin', '%22quoted%22.bin'],
    ['back\\slash', 'back_slash', 'back%5Cslash'],
    ['%41', '_41', '%2541'],
    ["it's (1)*", "it's (1)*", 'it%27s%20%281%29%2A'],
    ['Ärger', '_rger', '%C3%84rger'],
    ['包', '_', '%E5%8C%85'],
    ['a\r\nSet-Cookie: b', 'a__Set-Cookie: b', 'a%0D%0ASet-Cookie%3A%20b'],
    ['nul\0del\x7f', 'nul_del_', 'nul%00del%7F'],
    ['', '', ''],
  ] as const) {
    const expected = `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
    t.equal(dispositionOf(name), expected, JSON.stringify(name))
  }
})
