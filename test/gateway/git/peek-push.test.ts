/** The number of refs of a push, and its only change, are read from its first bytes. */

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
  const { hasOneRef, change, body: whole } = await peekPush(body())
  const chunks: Uint8Array[] = []
  for await (const chunk of whole) chunks.push(chunk)
  t.equal(Buffer.concat(chunks).toString(), pieces.join(''))
  return { hasOneRef, change }
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
    t.match(await peek([request]), { hasOneRef })
    t.match(await peek(request.split('')), { hasOneRef }, 'byte by byte')
  })
}

const CAPABILITIES = ' report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5'
const command = (name: string, capabilities = CAPABILITIES) =>
  `${packet(Buffer.from(`${ONE} ${ZEROS} ${name}\0${capabilities}`).toString('latin1'))}0000`
const peekChange = async (request: string) => {
  async function* body() {
    yield Buffer.from(request, 'latin1')
  }
  return (await peekPush(body())).change
}

t.test('the change of a push of one ref is read if git will report its result', async (t) => {
  const change = { before: ONE, after: undefined }
  for (const name of ['refs/heads/a', 'refs/tags/ä&v1']) {
    t.strictSame(await peekChange(command(name)), { ...change, name })
  }
  for (const request of [
    command('refs/heads/a', ' side-band-64k'),
    command('refs/heads/a', ' report-status'),
    command('refs/heads/a..b'),
    command('refs/heads/a\nrefs/heads/b'),
    command(`refs/heads/${'a'.repeat(2_000)}`),
    `${packet(`${ONE} ${ZEROS} refs/heads/\xff\0${CAPABILITIES}`)}0000`,
    `${command('refs/heads/a').slice(0, -4)}${second}0000`,
    '0000',
  ]) {
    t.equal(await peekChange(request), undefined, JSON.stringify(request.slice(0, 200)))
  }
})

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
