/** Parsing of a CGI response does not depend on its chunks. */

import fc from 'fast-check'
import t from 'tap'
import { readCgiResponse } from '../../../cgi/transfer/response.js'

interface Source {
  readonly output: AsyncIterable<Uint8Array>
  readonly wasLeft: () => boolean
}

/** Creates an output in pieces of these sizes, which records if it was read to its end. */
function outputOf(text: string, sizes: readonly number[] = [text.length || 1]): Source {
  const bytes = Buffer.from(text, 'latin1')
  let left = false
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      let start = 0
      for (let index = 0; start < bytes.length; index += 1) {
        const size = sizes[index % sizes.length] ?? 1
        yield bytes.subarray(start, start + size)
        start += size
      }
    } finally {
      left = true
    }
  }
  return { output: pieces(), wasLeft: () => left }
}

async function read(text: string, sizes?: readonly number[]) {
  const { status, headers, body } = await readCgiResponse(outputOf(text, sizes).output)
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return { status, headers, body: Buffer.concat(chunks).toString('latin1') }
}

t.test('status, headers and body are parsed with either line ending', async (t) => {
  const expected = {
    status: 404,
    headers: [
      ['cache-control', 'no-cache'],
      ['content-type', 'text/plain'],
    ],
    body: 'gone\r\n\r\nreally',
  }
  const lines = ['Status: 404 Not Found', 'Cache-Control: no-cache', 'content-TYPE:text/plain ']
  t.same(await read(`${lines.join('\r\n')}\r\n\r\n${expected.body}`), expected)
  t.same(await read(`${lines.join('\n')}\n\n${expected.body}`), expected)
})

t.test('a response without a status is 200, and its body may be empty', async (t) => {
  t.same(await read('Expires: 0\n\n'), { status: 200, headers: [['expires', '0']], body: '' })
})

t.test('headers that frame, set cookies or redirect are dropped', async (t) => {
  const dropped = [
    'Transfer-Encoding: chunked',
    'Content-Length: 5',
    'Connection: close',
    'Set-Cookie: a=b',
    'Location: http://evil/',
    'X-Anything: x',
  ]
  t.same((await read(`${dropped.join('\r\n')}\r\nPragma: x\r\n\r\n`)).headers, [['pragma', 'x']])
})

t.test("an empty or malformed response throws and the program's output is released", async (t) => {
  const malformed = {
    nothing: '',
    'no headers': '\r\n\r\nbody',
    'no end': 'Content-Type: text/plain\r\n',
    'no colon': 'Content-Type\r\n\r\n',
    'a folded line': 'Pragma: a\r\n b\r\n\r\n',
    'a lone CR': 'Pragma: a\rSet-Cookie: x\r\n\r\n',
    'a NUL': 'Pragma: a\0\r\n\r\n',
    'a space in the name': 'Pragma : a\r\n\r\n',
    'an odd status': 'Status: 20x\r\n\r\n',
    'an informational status': 'Status: 101 Switching\r\n\r\n',
    'two statuses': 'Status: 200 OK\r\nStatus: 500 No\r\n\r\n',
    'too many headers': `${'Pragma: x\r\n'.repeat(7_000)}\r\n`,
  }
  for (const [name, text] of Object.entries(malformed)) {
    const source = outputOf(text, [8_192])
    await t.rejects(readCgiResponse(source.output), /the CGI answer/, name)
    t.ok(source.wasLeft(), name)
  }
})

t.test("a reader that stops before the first chunk releases the program's output", async (t) => {
  const source = outputOf('Pragma: x\n\nbody', [11, 2])
  const { body } = await readCgiResponse(source.output)
  const chunks = body[Symbol.asyncIterator]()
  await chunks.return?.()
  t.ok(source.wasLeft())
  t.same(await chunks.next(), { done: true, value: undefined })
})

t.test('chunk boundaries do not change the result', async (t) => {
  const line = fc.constantFrom('Status: 403 No', 'Pragma: a', 'Bad', 'X-Y: z', 'Content-Type: b/c')
  const ending = fc.constantFrom('\r\n', '\n')
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, ending), { maxLength: 5 }),
      ending,
      fc.string(),
      sizes,
      async (lines, last, body, sizes) => {
        const text = `${lines.flat().join('')}${last}${body}`
        const outcome = (each: Promise<unknown>) => each.catch((error: Error) => error.message)
        t.same(await outcome(read(text, sizes)), await outcome(read(text)))
      },
    ),
  )
})
