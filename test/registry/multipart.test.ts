/** Forms are streamed at the reader's pace, part by part; malformed ones are refused. */

import { deepStrictEqual } from 'node:assert'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { isDeepStrictEqual } from 'node:util'
import busboy from 'busboy'
import { array, assert, asyncProperty, constantFrom, integer, oneof } from 'fast-check'
import t from 'tap'
import { Failure } from '../../conf/failures.js'
import { type Part, readParts } from '../../registry/multipart.js'
import { isFullSize } from '../helpers/test-size.js'

const BOUNDARY = '5EBD7C6A-66B9-4B5D-9D7C-0B2A7A3F2C11'

interface SentPart {
  readonly headers: readonly string[]
  readonly bytes: string | Uint8Array
}

const disposition = (parameters: string) => `Content-Disposition: form-data; ${parameters}`

/** Creates a form as a client writes it. */
function aForm(...parts: readonly SentPart[]): Buffer {
  const written = parts.flatMap(({ headers, bytes }) => [
    `--${BOUNDARY}\r\n${headers.join('\r\n')}\r\n\r\n`,
    bytes,
    '\r\n',
  ])
  return Buffer.concat([...written, `--${BOUNDARY}--\r\n`].map((piece) => Buffer.from(piece)))
}

/** Creates a form like `swift package-registry publish`: quoted boundary and no file names. */
function aSwiftForm(archive: Uint8Array, metadata: string): Buffer {
  return aForm(
    {
      headers: [
        disposition('name="source-archive"'),
        'Content-Type: application/zip',
        'Content-Transfer-Encoding: binary',
      ],
      bytes: archive,
    },
    {
      headers: [
        disposition('name="metadata"'),
        'Content-Type: application/json',
        'Content-Transfer-Encoding: quoted-printable',
      ],
      bytes: metadata,
    },
  )
}

const SWIFT_TYPE = `multipart/form-data;boundary="${BOUNDARY}"`

async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size))
    yield piece
    // The listener reuses the memory of a chunk as well when the next one is requested.
    piece.fill(0xee)
  }
}

function aRequest(body: AsyncIterable<Uint8Array>, contentType = SWIFT_TYPE) {
  return { headers: new Map([['content-type', contentType]]), body }
}

async function bytesOf(part: Part): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of part.body) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** Returns the header and content of each part. */
async function readAll(body: AsyncIterable<Uint8Array>, contentType?: string) {
  const read: unknown[] = []
  for await (const part of readParts(aRequest(body, contentType))) {
    const { name, fileName, contentType, transferEncoding } = part
    read.push([name, fileName, contentType, transferEncoding, String(await bytesOf(part))])
  }
  return read
}

/** Returns the message of the refusal, or `read` if the form is read to its end. */
async function refusalOf(body: AsyncIterable<Uint8Array>, contentType?: string): Promise<string> {
  try {
    await readAll(body, contentType)
    return 'read'
  } catch (error) {
    if (error instanceof Failure && error.failure === 'bad_request') return error.message
    throw error
  }
}

/** Creates a long body that counts the bytes that are read. */
function aCountedBody(head: Uint8Array, fill: Uint8Array, times: number, tail: Uint8Array) {
  const state = { bytes: 0, closed: false }
  async function* chunks() {
    try {
      yield head
      for (let at = 0; at < times; at++) {
        state.bytes += fill.length
        yield fill
      }
      yield tail
    } finally {
      state.closed = true
    }
  }
  return { state, body: chunks() }
}

/** A header, and content as long as a boundary may be. */
const HEAD = Buffer.from(
  `--${BOUNDARY}\r\n${disposition('name="source-archive"')}\r\n\r\n${'x'.repeat(80)}`,
)
const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)

t.test('parts sent by Swift are read in chunks of any size', async (t) => {
  const archive = Buffer.from('PK\x03\x04\r\n--\r\n--5EBD7C6A\r\n\xff\x00', 'latin1')
  const metadata = '{"repositoryURLs":["https://example.test/?a=3D"]}'
  const expected = [
    ['source-archive', undefined, 'application/zip', 'binary', String(archive)],
    ['metadata', undefined, 'application/json', 'quoted-printable', metadata],
  ]
  const form = aSwiftForm(archive, metadata)
  const wrong: unknown[] = []
  for (let size = 1; size <= form.length; size++) {
    const read = await readAll(inPieces(form, size))
    if (!isDeepStrictEqual(read, expected)) wrong.push([`pieces of ${size}`, read])
  }
  t.strictSame(wrong, [])
})

t.test('binary data is unchanged, with and without a file name', async (t) => {
  const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7) ^ (at >> 8))
  for (const name of ['name="a"', 'name="a"; filename="b.zip"']) {
    const form = aForm({ headers: [disposition(name)], bytes })
    for await (const part of readParts(aRequest(inPieces(form, 100_000)))) {
      t.ok((await bytesOf(part)).equals(bytes), name)
    }
  }
})

t.test('parts sent by fetch are read', async (t) => {
  const data = new FormData()
  data.append('note', 'Grüße')
  data.append('file', new Blob(['zip'], { type: 'application/zip' }), 'häuser.zip')
  data.append('empty', '')
  const { headers, body } = new Response(data)
  t.strictSame(await readAll(body ?? inPieces(TAIL), headers.get('content-type') ?? ''), [
    ['note', undefined, 'text/plain', 'binary', 'Grüße'],
    ['file', 'häuser.zip', 'application/zip', 'binary', 'zip'],
    ['empty', undefined, 'text/plain', 'binary', ''],
  ])
})

t.test('an empty part may share its empty line with the boundary', async (t) => {
  const start = `--${BOUNDARY}\r\n${disposition('name=a')}\r\n\r\n`
  for (const form of [`${start}\r\n--${BOUNDARY}--`, `${start}--${BOUNDARY}--`]) {
    t.match(await readAll(inPieces(Buffer.from(form))), [
      ['a', undefined, 'text/plain', 'binary', ''],
    ])
  }
})

t.test("a part of a gigabyte is read at the reader's pace", async (t) => {
  const fill = Buffer.alloc(1_048_576, 'x')
  const { state, body } = aCountedBody(HEAD, fill, 1_024, TAIL)
  let read = 0
  let aheadMax = 0
  for await (const part of readParts(aRequest(body))) {
    t.equal(state.bytes, 0, 'nothing before it is read')
    for await (const chunk of part.body) {
      read += chunk.length
      aheadMax = Math.max(aheadMax, state.bytes - read)
    }
  }
  t.equal(read, 80 + 1_024 * fill.length)
  t.ok(aheadMax <= fill.length, `at most the current chunk is read ahead: ${aheadMax}`)
  t.ok(state.closed)
})

t.test('a part that is not read to its end is skipped', async (t) => {
  const part = (name: string, bytes: string) => ({ headers: [disposition(`name=${name}`)], bytes })
  const form = aForm(part('a', 'x'.repeat(200_000)), part('b', ''), part('c', 'end'))
  const names: string[] = []
  const late: Part[] = []
  for await (const part of readParts(aRequest(inPieces(form)))) {
    names.push(part.name)
    late.push(part)
    if (part.name === 'a') for await (const _ of part.body) break
  }
  t.strictSame(names, ['a', 'b', 'c'])
  for (const part of late) t.equal((await bytesOf(part)).length, 0, 'it is no longer readable')
})

t.test('a reader that stops closes the body', async (t) => {
  const whole = aCountedBody(HEAD, Buffer.alloc(1_000), 1_000, TAIL)
  for await (const _ of readParts(aRequest(whole.body))) break
  t.strictSame(whole.state, { bytes: 0, closed: true })
  const middle = aCountedBody(HEAD, Buffer.alloc(1_000), 1_000, TAIL)
  const leave = async () => {
    for await (const part of readParts(aRequest(middle.body))) {
      for await (const chunk of part.body) {
        if (chunk.length > 80) throw new Error('the disk is full')
      }
    }
  }
  await t.rejects(leave(), { message: 'the disk is full' })
  t.strictSame(middle.state, { bytes: 1_000, closed: true })
})

t.test('an error of the body is thrown where it is read', async (t) => {
  const gone = new Failure('bad_request', 'The client disconnected.')
  async function* breaking(...chunks: readonly Uint8Array[]) {
    yield* chunks
    throw gone
  }
  const form = aSwiftForm(Buffer.alloc(10), '{}')
  const refusals: string[] = []
  for (let at = 0; at <= form.length; at++) {
    refusals.push(await refusalOf(breaking(form.subarray(0, at))))
  }
  t.strictSame(refusals, Array(form.length + 1).fill(gone.message), 'before the bytes that follow')
})

t.test('a form that is truncated anywhere is refused', async (t) => {
  const form = aSwiftForm(Buffer.from('zip'), '{}')
  const end = form.lastIndexOf('--') + 2
  const refusals: string[] = []
  for (let at = 0; at <= form.length; at++) {
    const refusal = await refusalOf(inPieces(form.subarray(0, at)))
    refusals.push(`after ${at} bytes: ${/ends before/.exec(refusal)?.[0] ?? refusal}`)
  }
  t.strictSame(
    refusals,
    refusals.map((_, at) => `after ${at} bytes: ${at < end ? 'ends before' : 'read'}`),
  )
})

t.test('a body that is not a form is refused', async (t) => {
  const form = aSwiftForm(Buffer.from('zip'), '{}')
  const others = [
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/mixed;boundary=a',
  ]
  for (const type of [...others, `x, ${SWIFT_TYPE}`, `${SWIFT_TYPE} x`]) {
    t.match(await refusalOf(inPieces(form), type), /must be sent as multipart\/form-data/, type)
  }
  for (const parameters of [
    '',
    ';',
    ';charset=utf-8',
    ';boundary=',
    `;boundary=${'x'.repeat(71)}`,
  ]) {
    const type = `multipart/form-data${parameters}`
    t.match(await refusalOf(inPieces(form), type), /boundary of 1 to 70 characters/, type)
  }
  t.match(await refusalOf(inPieces(form), 'multipart/form-data;boundary=other'), /ends before/)
})

t.test('a form beyond the limits is refused', async (t) => {
  const part = { headers: [disposition('name=a')], bytes: 'x' }
  const parts = (count: number) => aForm(...Array.from({ length: count }, () => part))
  t.equal(await refusalOf(inPieces(parts(100))), 'read')
  t.match(await refusalOf(inPieces(parts(101), 10_000)), /more than 100 parts/)
  t.match(await refusalOf(inPieces(parts(10_000), 100_000)), /more than 100 parts/)
  const fill = Buffer.alloc(32_768, 'x')
  const heads = {
    '': /bytes outside of its parts/,
    [`--${BOUNDARY}`]: /header is longer than 16384 bytes/,
    [`--${BOUNDARY}\r\nX: `]: /header is longer than 16384 bytes/,
    [String(TAIL)]: /bytes outside of its parts/,
  }
  for (const [head, message] of Object.entries(heads)) {
    const { state, body } = aCountedBody(Buffer.from(head), fill, 1_000, TAIL)
    t.match(await refusalOf(body), message, head)
    t.ok(state.bytes <= 131_072 && state.closed, `${state.bytes} bytes were read`)
  }
})

t.test('malformed part headers are refused', async (t) => {
  const named = disposition('name=b')
  const lines = [` ${named}`, ':', 'a', '', '\0: a', 'a: \0', 'é: b', 'X: y\nZ: a', 'X: y\rZ: a']
  for (const line of [...lines, named, 'Content-Disposition: attachment; name=a']) {
    const form = aForm({ headers: [line, named], bytes: 'x' })
    t.not(await refusalOf(inPieces(form, 3)), 'read', line)
  }
  const latin = Buffer.from(HEAD.toString().replace('source', 'Quelle-\xfc'), 'latin1')
  t.match(await refusalOf(inPieces(Buffer.concat([latin, TAIL]))), /not valid UTF-8/)
  const begun = Buffer.from(`--${BOUNDARY}text\r\n${named}\r\n\r\n${TAIL}`)
  t.match(await refusalOf(inPieces(begun)), /boundary that is followed by text/)
  const names = aForm({ headers: [disposition('name=__proto__; filename=constructor')], bytes: '' })
  t.match(await readAll(inPieces(names)), [['__proto__', 'constructor', 'text/plain']])
})

const words = constantFrom(
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}--`,
  '\r\n\r\n',
  '\r\n',
  '--',
  disposition('name=a'),
  disposition('name="b"; filename="c"'),
  'Content-Type: x/y',
  'text',
)
const sizes = integer({ min: 1, max: 60 })

t.test('random bytes are read or refused', async (t) => {
  const settles = asyncProperty(array(words, { maxLength: 12 }), sizes, async (pieces, size) => {
    await refusalOf(inPieces(Buffer.from(pieces.join('')), size))
  })
  await t.resolves(assert(settles, { numRuns: isFullSize ? 3_000 : 600 }))
})

/** Returns the parts that busboy reads; it streams those with a file name. */
async function readWithBusboy(form: Buffer): Promise<readonly unknown[]> {
  const read: Promise<unknown>[] = []
  const parser = busboy({ headers: { 'content-type': SWIFT_TYPE } })
  parser.on('file', (name, stream, { filename, mimeType }) =>
    read.push(buffer(stream).then((bytes) => [name, filename, mimeType, String(bytes)])),
  )
  await finished(parser.end(form))
  return Promise.all(read)
}

t.test('busboy reads the same parts', async (t) => {
  const contents = array(oneof(words, constantFrom('\r', '\n', '-', BOUNDARY)), { maxLength: 6 })
  const same = asyncProperty(array(contents, { maxLength: 4 }), sizes, async (parts, size) => {
    const form = aForm(
      ...parts.map((words, at) => ({
        headers: [disposition(`name="${at}"; filename="../${at}.zip"`), 'Content-Type: a/B; c=d'],
        // No client sends a part that contains the boundary.
        bytes: words.join('').replaceAll(BOUNDARY, BOUNDARY.slice(0, -1)),
      })),
    )
    const ours = (await readAll(inPieces(form, size))) as unknown[][]
    const told = ours.map(([name, fileName, type, , content]) => [name, fileName, type, content])
    deepStrictEqual(told, await readWithBusboy(form))
  })
  await t.resolves(assert(same, { numRuns: isFullSize ? 500 : 200 }))
})
