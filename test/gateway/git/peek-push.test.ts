/** The number of refs of a push is read from its first bytes, and no byte is lost. */

import t from 'tap'
import { peekPush } from '../../../gateway/git/peek-push.js'

const [ONE, ZEROS] = ['1'.repeat(40), '0'.repeat(40)]
const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
const first = packet(`${ZEROS} ${ONE} refs/heads/a\0 report-status atomic`)
const second = packet(`${ZEROS} ${ONE} refs/heads/b`)
const sha256 = packet(`${'1'.repeat(64)} ${'0'.repeat(64)} refs/heads/a\0 object-format=sha256`)

async function peek(pieces: readonly string[]) {
  async function* body() {
    for (const piece of pieces) yield Buffer.from(piece)
  }
  const { hasOneRef, body: whole } = await peekPush(body())
  const chunks: Uint8Array[] = []
  for await (const chunk of whole) chunks.push(chunk)
  t.equal(Buffer.concat(chunks).toString(), pieces.join(''))
  return hasOneRef
}

const CASES: ReadonlyArray<readonly [name: string, request: string, hasOneRef: boolean]> = [
  ['one ref', `${first}0000PACK…`, true],
  ['one ref of SHA-256', `${sha256}0000PACK…`, true],
  ['several refs', `${first}${second}0000PACK…`, false],
  ["git's first question whether it may push", '0000', true],
  ['nothing', '', false],
  ['a request that ends too early', first, false],
  ['a shallow client', `${packet(`shallow ${ONE}`)}${first}0000PACK…`, false],
  ['a signed push', `${packet('push-cert\0 report-status')}${packet('certificate\n')}0000`, false],
  ['no packet', 'PACK0000', false],
  ['a delimiter', '00010000', false],
]

for (const [name, request, hasOneRef] of CASES) {
  t.test(name, async (t) => {
    t.equal(await peek([request]), hasOneRef)
    t.equal(await peek(request.split('')), hasOneRef, 'byte by byte')
  })
}

t.test(
  'a client that disconnects is an error for the reader, and a reader that stops closes the body',
  async (t) => {
    async function* cut() {
      yield Buffer.from('00')
      throw new Error('the client disconnected')
    }
    await t.rejects(peekPush(cut()), /disconnected/)
    let isClosed = false
    async function* long() {
      try {
        for (;;) yield Buffer.from(`${first}0000`)
      } finally {
        isClosed = true
      }
    }
    const { body } = await peekPush(long())
    for await (const _ of body) break
    t.ok(isClosed)
  },
)
