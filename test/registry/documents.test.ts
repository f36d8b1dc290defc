/** Documents are rendered once per generation of their package and are revalidated by ETag. */

import t from 'tap'
import type { Package } from '../../conf/package.js'
import { createDocuments } from '../../registry/documents.js'
import type { PackageSource } from '../../registry/package-store.js'

const CHANGED_AT_MS = Date.parse('2025-06-15T12:00:00.750Z')
const DATE = 'Sun, 15 Jun 2025 12:00:00 GMT'
const LONG_AFTER_MS = CHANGED_AT_MS + 3_600_000

const PACKAGE: Package = { id: 7, name: 'tool', generation: 3, changedAtMs: CHANGED_AT_MS }

interface Input {
  readonly of?: Partial<Package>
  readonly kind?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly source?: PackageSource
  readonly make?: () => Promise<string>
}

/** Creates documents with a fixed clock; each contains the number of documents made before it. */
function someDocuments(nowMs = LONG_AFTER_MS) {
  let made = 0
  const documents = createDocuments(() => nowMs)
  const ask = async ({ of = {}, kind = 'list', headers = {}, source, make }: Input = {}) => {
    const request = { headers: new Map(Object.entries(headers)) }
    const reply = await documents.answer({ ...PACKAGE, ...of }, request, {
      kind,
      contentType: 'text/plain',
      headers: [['X-Format', 'tool']],
      source,
      make:
        make ??
        (async () => {
          made += 1
          return `number ${made}`
        }),
    })
    const known = (reply.headers ?? []).map(([name, value]) => [name.toLowerCase(), value])
    return { ...reply, text: reply.body?.toString(), of: Object.fromEntries(known) }
  }
  return { ask }
}

t.test('concurrent and later requests share one document', async (t) => {
  const { ask } = someDocuments()
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let makers = 0
  const make = async () => {
    makers += 1
    await released
    return 'slow'
  }
  const asked = Array.from({ length: 20 }, () => ask({ make }))
  release()
  for (const answer of await Promise.all(asked)) {
    t.match(answer, { status: 200, text: 'slow' })
  }
  t.match(await ask(), { status: 200, text: 'slow' })
  t.equal(makers, 1)
})

t.test('another generation, kind or package is another document', async (t) => {
  const { ask } = someDocuments()
  t.equal((await ask()).text, 'number 1')
  t.equal((await ask({ of: { generation: 4 } })).text, 'number 2')
  t.equal((await ask({ kind: 'other' })).text, 'number 3')
  t.equal((await ask({ of: { id: 8 } })).text, 'number 4')
  t.equal((await ask()).text, 'number 1')
})

t.test('a failed document is made again', async (t) => {
  const { ask } = someDocuments()
  const make = () => Promise.reject(new Error('the database is away'))
  await t.rejects(ask({ make }), /is away/)
  t.equal((await ask()).text, 'number 1')
})

t.test('a client with the current document gets 304, by ETag or by date', async (t) => {
  const { ask } = someDocuments()
  const { of } = await ask()
  t.match(of, {
    etag: /^"[0-9a-f]{32}"$/,
    'last-modified': DATE,
    'content-type': 'text/plain',
    'cache-control': 'private, no-cache',
    vary: 'Authorization',
    'x-format': 'tool',
  })
  for (const headers of [{ 'if-none-match': of.etag }, { 'if-modified-since': DATE }]) {
    const answer = await ask({ headers })
    t.equal(answer.status, 304)
    t.equal(answer.body, undefined)
    const { 'content-type': _type, ...others } = of
    t.strictSame(answer.of, others)
  }
  const other = await ask({ headers: { 'if-none-match': '"other"', 'if-modified-since': DATE } })
  t.equal(other.status, 200)
  t.equal((await ask({ headers: { 'if-match': '"other"' } })).status, 412)
})

t.test('different documents have different ETags, and equal texts have equal ones', async (t) => {
  const { ask } = someDocuments()
  const make = async () => 'the same'
  const tags = [await ask(), await ask({ kind: 'x', make }), await ask({ kind: 'y', make })]
  const [one, two, three] = tags.map(({ of }) => of.etag)
  t.not(one, two)
  t.equal(two, three)
})

t.test('Last-Modified is neither sent nor honoured within 3 seconds of a change', async (t) => {
  for (const [afterMs, isSettled] of [
    [-5_000, false],
    [0, false],
    [3_000, false],
    [3_001, true],
  ] as const) {
    const { ask } = someDocuments(CHANGED_AT_MS + afterMs)
    const { of } = await ask()
    t.equal('last-modified' in of, isSettled, `${afterMs} ms after the change`)
    const byDate = await ask({ headers: { 'if-modified-since': DATE } })
    t.equal(byDate.status, isSettled ? 304 : 200)
    t.equal((await ask({ headers: { 'if-none-match': of.etag } })).status, 304)
  }
})

t.test('the cache has a size limit', async (t) => {
  const { ask } = someDocuments()
  const large = 'x'.repeat(8_000_000)
  for (const kind of ['a', 'b', 'c', 'd', 'e']) await ask({ kind, make: async () => large })
  t.equal((await ask({ kind: 'e' })).text?.length, large.length)
  t.equal((await ask({ kind: 'a' })).text, 'number 1', 'the oldest was evicted')
})

t.test('a document larger than the cache is still returned', async (t) => {
  const { ask } = someDocuments()
  const huge = 'x'.repeat(34_000_000)
  t.equal((await ask({ make: async () => huge })).text?.length, huge.length)
})

t.test('a document with a source is cached for its state and has no date', async (t) => {
  const { ask } = someDocuments()
  const sourceIn = (state: string, url = 'a') => ({ url, state, commitsOf: async () => new Map() })
  t.equal((await ask()).text, 'number 1')
  const first = await ask({ source: sourceIn('1') })
  t.match(first, { status: 200, text: 'number 2' })
  t.notOk(first.of['last-modified'])
  t.equal((await ask({ source: sourceIn('2') })).text, 'number 3')
  t.equal((await ask({ source: sourceIn('1', 'b') })).text, 'number 4')
  t.equal((await ask({ source: sourceIn('1') })).text, 'number 2')
  const headers = { 'if-modified-since': DATE }
  t.equal((await ask({ headers })).status, 304)
  t.equal((await ask({ headers, source: sourceIn('1') })).status, 200)
})
