/** Upload bodies are stored unchanged, or as the first file of a form. */

import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check'
import t from 'tap'
import { Failure } from '../../conf/failures.js'
import { uploadBody } from '../../registry/upload-body.js'

const BOUNDARY = 'a-boundary'
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`

async function* inPieces(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size))
    yield piece
    // The listener reuses the memory of a chunk as well when the next one is requested.
    piece.fill(0xee)
  }
}

async function read(body: AsyncIterable<Uint8Array>, type?: string): Promise<string> {
  const headers = new Map(type === undefined ? [] : [['content-type', type]])
  const chunks: Buffer[] = []
  for await (const chunk of uploadBody({ headers, body })) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('latin1')
}

function aPart(disposition: string, content: string): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`
}

const END = `--${BOUNDARY}--\r\n`

/** Creates a form with a note before its two files. */
function aForm(content: string): Buffer {
  return Buffer.from(
    aPart('name="note"', 'a note') +
      aPart('name="file"; filename="a.bin"', content) +
      aPart('name="other"; filename="b.bin"', 'another') +
      END,
    'latin1',
  )
}

t.test('a body that is not a form is the file itself', async (t) => {
  const bytes = Buffer.from('a=1&b=2')
  t.equal(await read(inPieces(bytes, 2)), 'a=1&b=2')
  for (const type of ['application/octet-stream', 'application/x-www-form-urlencoded']) {
    t.equal(await read(inPieces(bytes, 2), type), 'a=1&b=2', type)
  }
})

t.test('the first file of a form is read, in chunks of any size', async (t) => {
  const content = `\r\n--a-boundar\r\n\0\xff${'x'.repeat(300_000)}`
  for (const size of [7, 1_000, 65_536, 1_000_000]) {
    t.ok((await read(inPieces(aForm(content), size), TYPE)) === content, `chunks of ${size}`)
  }
})

/** Returns the message of the refusal, or the file. */
async function outcome(form: string, size = 3, type = TYPE): Promise<string> {
  try {
    return await read(inPieces(Buffer.from(form), size), type)
  } catch (error) {
    if (error instanceof Failure && error.failure === 'bad_request') return error.message
    throw error
  }
}

t.test('a form without a file, or with a truncated one, is refused', async (t) => {
  t.equal(
    await outcome(aPart('name="note"', 'a note') + END),
    'The form has no file: no part has a filename parameter.',
  )
  const start = aPart('name="file"; filename="a.bin"', 'content')
  for (let at = 0; at < start.length; at += 1) {
    t.match(await outcome(start.slice(0, at)), /^The form ends before/, `truncated after ${at}`)
  }
  t.match(await outcome('no form at all'), /^The form/)
  t.match(await outcome(END, 3, 'multipart/form-data'), /^The form needs a boundary/)
})

t.test('an error of the body is thrown to the reader', async (t) => {
  const gone = new Failure('bad_request', 'The client disconnected.')
  async function* breaking() {
    yield aForm('x'.repeat(1_000)).subarray(0, 500)
    throw gone
  }
  await t.rejects(read(breaking(), TYPE), { message: gone.message })
})

t.test('a reader that stops closes the body', async (t) => {
  let isClosed = false
  async function* endless() {
    try {
      yield Buffer.from(aPart('name="file"; filename="a.bin"', 'begin'))
      for (;;) yield Buffer.alloc(65_536)
    } finally {
      isClosed = true
    }
  }
  const body = endless()
  for await (const _ of uploadBody({ headers: new Map([['content-type', TYPE]]), body })) break
  // The body ends when its pending chunk has arrived.
  while (!isClosed) await new Promise((resolve) => setImmediate(resolve))
  t.ok(isClosed)
})

const words = constantFrom(
  `--${BOUNDARY}`,
  `\r\n--${BOUNDARY}\r\n`,
  `\r\n--${BOUNDARY}--`,
  '\r\n\r\n',
  '\r\n',
  '--',
  'Content-Disposition: form-data; name=a',
  'Content-Disposition: form-data; filename="c"',
  'Content-Type: application/octet-stream',
  'text',
)

t.test('random bytes are read or refused', async (t) => {
  const sizes = integer({ min: 1, max: 60 })
  const settles = asyncProperty(array(words, { maxLength: 12 }), sizes, async (pieces, size) => {
    await outcome(pieces.join(''), size)
  })
  await t.resolves(assert(settles, { numRuns: 2_000 }))
})
