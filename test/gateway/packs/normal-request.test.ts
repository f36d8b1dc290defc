/** Requests in canonical form; requests that are not fully understood are left to git. */

import fc from 'fast-check'
import t from 'tap'
import {
  type NormalRequest,
  normalize as normalizeAny,
} from '../../../gateway/packs/normal-request.js'
import { packetLine } from '../../helpers/git-requests.js'

const normalize = (body: Buffer) => normalizeAny(body, 2)

const ONE = '1'.repeat(40)
const TWO = 'a2'.repeat(20)

/** Creates a request of these lines; each gets its newline, as git sends it. */
function requestOf(head: readonly string[], tail: readonly string[]): Buffer {
  const lines = (texts: readonly string[]) => texts.map((text) => packetLine(`${text}\n`)).join('')
  return Buffer.from(`${lines(head)}0001${lines(tail)}0000`)
}

const fetchOf = (...tail: readonly string[]) =>
  normalize(requestOf(['command=fetch', 'object-format=sha1'], tail))
const listOf = (...tail: readonly string[]) =>
  normalize(requestOf(['command=ls-refs', 'object-format=sha1'], tail))

const textOf = (request: NormalRequest | undefined) =>
  request?.command === 'fetch' ? request.text : undefined

/** Arguments of `git clone`, in git's order. */
const CLONE = ['thin-pack', 'no-progress', 'include-tag', 'ofs-delta', `want ${ONE}`, 'done']

t.test('a clone request is parsed with its wants and all that its answer depends on', async (t) => {
  t.match(fetchOf(...CLONE), {
    command: 'fetch',
    objectFormat: 'sha1',
    wants: [ONE],
    includesTags: true,
    asksReferences: false,
  })
  t.match(fetchOf(`want ${ONE}`, 'done'), { includesTags: false, asksReferences: false })
  t.match(fetchOf(`want ${ONE}`, 'deepen-not main', 'done'), { asksReferences: true })
  t.match(fetchOf(`want ${ONE}`, 'deepen-since 1700000000', 'done'), { asksReferences: true })
  const long = 'b'.repeat(64)
  const sha256 = requestOf(['command=fetch', 'object-format=sha256'], [`want ${long}`, 'done'])
  t.match(normalize(sha256), { objectFormat: 'sha256', wants: [long] })
})

t.test(
  'requests with lines in any order, repeated lines, or of any client are equal',
  async (t) => {
    const tail = [...CLONE, `want ${TWO}`, 'deepen 1', 'filter blob:none']
    const text = textOf(fetchOf(...tail))
    t.type(text, 'string')
    t.equal(textOf(fetchOf(...tail.toReversed())), text)
    t.equal(textOf(fetchOf(...tail, `want ${TWO}`, 'done', 'ofs-delta')), text)
    for (const head of [
      ['command=fetch', 'agent=git/2.39.5', 'object-format=sha1'],
      ['command=fetch', 'object-format=sha1', 'agent=git/2.51.0-Linux', 'session-id=1-2.3'],
      ['command=fetch', 'agent='],
    ]) {
      t.equal(textOf(normalize(requestOf(head, tail))), text, head.join(' '))
    }
    t.strictSame(
      listOf('peel', 'symrefs', 'ref-prefix refs/tags/', 'ref-prefix HEAD'),
      listOf('ref-prefix HEAD', 'symrefs', 'ref-prefix refs/tags/', 'ref-prefix HEAD', 'peel'),
    )
  },
)

t.test('requests that git answers differently are different', async (t) => {
  const others = [
    CLONE,
    ...CLONE.slice(0, 4).map((flag) => CLONE.filter((line) => line !== flag)),
    [...CLONE, `want ${TWO}`],
    [...CLONE, 'deepen 1'],
    [...CLONE, 'deepen 2'],
    [...CLONE, 'deepen-since 1'],
    [...CLONE, 'deepen-not 1'],
    [...CLONE, 'filter blob:none'],
    [...CLONE, 'filter tree:0'],
  ]
  const texts = others.map((lines) => textOf(fetchOf(...lines)))
  t.notOk(texts.includes(undefined))
  t.equal(new Set(texts).size, others.length)
})

t.test('filters that clients send are parsed, and one that names a reference is not', async (t) => {
  const known = ['blob:none', 'blob:limit=0', 'blob:limit=10m', 'tree:0', 'object:type=commit']
  for (const filter of [...known, 'combine:blob:none+tree:3']) {
    t.ok(fetchOf(...CLONE, `filter ${filter}`), filter)
  }
  for (const filter of [
    'sparse:oid=main:.sparse',
    'combine:tree:0+sparse:oid=main:x',
    'sparse:path=x',
    'none',
    'combine:tree:0+sparse%3aoid=main:x',
    'combine:',
    'combine:tree:0+',
    'blob:none ',
  ]) {
    t.equal(fetchOf(...CLONE, `filter ${filter}`), undefined, filter)
  }
})

t.test('a fetch with any other argument is left to git', async (t) => {
  const strange = [
    'want-ref refs/heads/main',
    'have',
    'have HEAD',
    `have ${ONE} ${TWO}`,
    `shallow ${ONE.slice(1)}`,
    'deepen-relative 1',
    'sideband-all',
    'packfile-uris https',
    'server-option=x',
    'x',
    '',
    'deepen 0',
    'deepen 01',
    'deepen -1',
    'deepen 1 1',
    'deepen',
    'deepen 0x1',
    'done done',
    'deepen-since',
    'deepen-since yesterday',
    'deepen-not ',
    'deepen-not a b',
    'filter',
    'DONE',
    ' done',
    'done ',
    'done\n',
    'want',
    'want ',
    `want ${ONE} `,
    `want  ${ONE}`,
    `want ${ONE.slice(1)}`,
    `want ${ONE}1`,
    `want ${TWO.toUpperCase()}`,
    `want ${'b'.repeat(64)}`,
    `Want ${ONE}`,
    `want ${ONE}\n`,
    `want ${ONE}\0`,
    `want\t${ONE}`,
    'want HEAD',
    'constructor x',
    '__proto__ x',
    'toString x',
    'hasOwnProperty x',
  ]
  for (const line of strange) {
    t.equal(fetchOf(...CLONE, line), undefined, JSON.stringify(line))
  }
  for (const value of ['deepen 1', 'deepen-since 1', 'deepen-not a', 'filter tree:0']) {
    t.ok(fetchOf(...CLONE, value))
    t.equal(fetchOf(...CLONE, value, value), undefined, `twice: ${value}`)
  }
  t.equal(fetchOf('done'), undefined, 'without a want')
  t.equal(fetchOf(`have ${ONE}`), undefined, 'without a want')
  const many = Array.from({ length: 10_001 }, (_, at) => `want ${String(at).padStart(40, '0')}`)
  t.equal(fetchOf(...many, 'done'), undefined, 'too many wants')
})

t.test('haves and shallow commits are sets, and each changes the answer', async (t) => {
  const fetch = [`want ${ONE}`, `have ${TWO}`, `have ${ONE}`, `shallow ${TWO}`, `shallow ${ONE}`]
  const text = textOf(fetchOf(...fetch))
  t.type(text, 'string')
  t.equal(textOf(fetchOf(...fetch.toReversed(), `have ${TWO}`, `shallow ${ONE}`)), text)
  const others = [
    ...fetch.slice(1).map((left) => fetch.filter((line) => line !== left)),
    [...fetch, 'done'],
    [...fetch, 'wait-for-done'],
    [...fetch, 'deepen 1'],
    [...fetch, 'deepen 1', 'deepen-relative'],
  ].map((lines) => textOf(fetchOf(...lines)))
  t.notOk(others.includes(undefined))
  t.equal(new Set([...others, text]).size, others.length + 1)
})

t.test('an unknown or repeated capability is left to git', async (t) => {
  const heads = [
    [],
    ['command=push'],
    ['command=fetch '],
    ['command=ls-refs', 'command=ls-refs'],
    ['agent=x', 'command=fetch'],
    ['command=fetch', 'server-option=x'],
    ['command=fetch', 'agent'],
    ['command=fetch', 'agent=a b'],
    ['command=fetch', ''],
    ['command=fetch', 'Agent=x'],
    ['command=fetch', 'object-format=sha512'],
    ['command=fetch', 'object-format=sha1', 'object-format=sha1'],
    ['command=fetch', 'object-format=sha1', 'object-format=sha256'],
    ['command=object-info'],
  ]
  for (const head of heads) {
    t.equal(normalize(requestOf(head, CLONE)), undefined, head.join(' '))
  }
  const isCommandLast = requestOf(['object-format=sha1', 'command=fetch'], CLONE)
  t.equal(normalize(isCommandLast), undefined, 'git accepts it and answers')
})

t.test('an ls-refs request is parsed, and one with unknown arguments is left to git', async (t) => {
  t.strictSame(listOf(), {
    command: 'ls-refs',
    objectFormat: 'sha1',
    prefixes: [],
    peel: false,
    symrefs: false,
    unborn: false,
  })
  t.match(listOf('peel', 'symrefs', 'unborn', 'ref-prefix refs/heads/', 'ref-prefix '), {
    peel: true,
    symrefs: true,
    unborn: true,
    prefixes: ['', 'refs/heads/'],
  })
  for (const line of ['ref-prefix', 'Peel', 'peel ', 'peeled', 'done', '', 'server-option=x']) {
    t.equal(listOf('peel', line), undefined, JSON.stringify(line))
  }
  const many = Array.from({ length: 1_001 }, (_, at) => `ref-prefix ${at}`)
  t.equal(listOf(...many), undefined)
})

t.test('a prefix with characters that no ref name has is left to git', async (t) => {
  // If two prefixes could have one form, the cached list of one would answer the other.
  for (const prefix of ['HEAD\nrefs/heads/', 'a\0b', 'refs/\t', 'refs/\x7f', 'refs/\n']) {
    t.equal(listOf(`ref-prefix ${prefix}`), undefined, JSON.stringify(prefix))
  }
  t.match(listOf('ref-prefix refs/heads/ä b*'), { prefixes: [/^refs\/heads\/.* b\*$/] })
})

t.test('arbitrary bytes do not throw', async () => {
  const word = fc.constantFrom(
    'command=fetch',
    'command=ls-refs',
    'object-format=sha1',
    'done',
    'peel',
    `want ${ONE}`,
    'ref-prefix x',
    'deepen 1',
    'valueOf 1',
    'agent=x',
    'filter tree:0',
  )
  const line = fc.oneof(word, fc.string()).map((text) => packetLine(`${text}\n`))
  const mark = fc.constantFrom('0000', '0001', '')
  const request = fc
    .tuple(fc.array(line), mark, fc.array(line), mark)
    .map(([head, middle, tail, end]) => Buffer.from([...head, middle, ...tail, end].join('')))
  const anything = fc.uint8Array().map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.oneof(request, anything), (body) => {
      normalize(body)
    }),
    { numRuns: 2_000 },
  )
})
