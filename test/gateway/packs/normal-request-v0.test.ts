/** Requests of protocol v0 in canonical form; others are left to git. */

import t from 'tap'
import { writeFetch } from '../../../gateway/packs/normal-fetch.js'
import { normalizeV0 } from '../../../gateway/packs/normal-request-v0.js'
import { packetLine } from '../../helpers/git-requests.js'

const ONE = '1'.repeat(40)
const TWO = 'a2'.repeat(20)
const FLAGS = 'multi_ack_detailed no-done side-band-64k thin-pack include-tag ofs-delta'

/** Creates a request of these lines; an empty one is a flush-pkt. */
function requestOf(...lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => (line === '' ? '0000' : packetLine(line))).join(''))
}

const read = (...lines: readonly string[]) => normalizeV0(requestOf(...lines))

t.test('clones, shallow clones and negotiations are parsed', async (t) => {
  t.match(read(`want ${ONE} ${FLAGS} agent=git/2.39.5\n`, `want ${TWO}\n`, '', 'done\n'), {
    command: 'fetch',
    version: 0,
    objectFormat: 'sha1',
    wants: [ONE, TWO],
    includesTags: true,
    asksReferences: false,
  })
  t.match(read(`want ${ONE} deepen-since`, 'deepen-since 1700000000', ''), { asksReferences: true })
  const requests = [
    [`want ${ONE} no-progress`, `shallow ${TWO}`, 'deepen 1', ''],
    [`want ${ONE} filter`, 'filter blob:none', '', 'done\n'],
    [`want ${ONE} multi_ack_detailed`, '', `have ${TWO}`, `have ${ONE}`, ''],
    [`want ${ONE} multi_ack_detailed`, '', `have ${TWO}`, `have ${ONE}`, 'done\n'],
    [`want ${ONE} multi_ack_detailed`, '', `have ${TWO}`, `have ${ONE}`],
  ]
  const texts = requests.map((lines) => read(...lines)?.text)
  t.notOk(texts.includes(undefined))
  t.equal(new Set(texts).size, requests.length, 'requests with different answers are different')
})

t.test('capabilities that git does not read make no difference', async (t) => {
  const clone = (flags: string) =>
    read(`want ${ONE} ofs-delta ${flags}\n`, 'deepen 1', '', 'done\n')
  t.ok(clone(''))
  t.strictSame(clone('agent=go-git/4.x shallow'), clone(''))
  t.strictSame(clone('agent=git/2.39.5 session-id=1'), clone(''))
  t.equal(clone('shallow=1'), undefined)
})

t.test('no-done makes a difference only if the client has a commit', async (t) => {
  const clone = (flags: string) => read(`want ${ONE} ${flags}`, '', 'done')
  t.strictSame(clone('multi_ack_detailed no-done'), clone('multi_ack_detailed'))
  const shallow = (flags: string) => read(`want ${ONE} ${flags}`, 'deepen 1', '')
  t.strictSame(shallow('no-done'), shallow(''))
  const fetch = (flags: string) => read(`want ${ONE} ${flags}`, '', `have ${TWO}`, '')
  t.not(fetch('no-done')?.text, fetch('')?.text)
})

t.test('the request for git has the meaning of the one that was parsed', async (t) => {
  for (const lines of [
    [`want ${TWO} ${FLAGS}\n`, `want ${ONE}\n`, `shallow ${ONE}\n`, 'deepen 3\n', '', 'done\n'],
    [`want ${TWO}\n`, '', `have ${TWO}\n`, `have ${ONE}\n`, ''],
    [`want ${TWO}\n`, 'deepen 1\n', ''],
  ]) {
    const request = read(...lines)
    const written = request && writeFetch(request)
    t.strictSame(normalizeV0(written ?? Buffer.alloc(0)), request)
  }
  const plain = read(`want ${TWO} ofs-delta`, '', `have ${ONE}`, 'done')
  t.equal(
    plain && writeFetch(plain).toString(),
    requestOf(
      `want ${TWO} ofs-delta object-format=sha1\n`,
      '',
      `have ${ONE}\n`,
      'done\n',
    ).toString(),
  )
})

t.test('a request that git reads differently is left to git', async (t) => {
  const clone = `want ${ONE} ofs-delta`
  for (const lines of [
    [],
    [''],
    ['', 'done'],
    [clone, 'done'],
    [clone, '', 'done', ''],
    [clone, '', 'done', `have ${ONE}`],
    [clone, '', '', 'done'],
    [clone, '', `want ${TWO}`, 'done'],
    [clone, '', 'deepen 1', 'done'],
    [clone, `have ${TWO}`, '', 'done'],
    [clone, 'ofs-delta', '', 'done'],
    [clone, 'done', '', 'done'],
    [`${clone} done`, ''],
    [`${clone} flush`, ''],
    [`${clone} have`, '', 'done'],
    [`${clone} allow-tip-sha1-in-want`, '', 'done'],
    [`${clone} object-format=sha1 object-format=sha1`, '', 'done'],
    [`${clone} object-format=md5`, '', 'done'],
    [`have ${ONE} ofs-delta`, '', 'done'],
    [`want ${ONE.slice(1)} ofs-delta`, '', 'done'],
    ['want', '', 'done'],
  ]) {
    t.equal(read(...lines), undefined, JSON.stringify(lines))
  }
  t.equal(normalizeV0(Buffer.from('hello')), undefined)
  t.equal(normalizeV0(Buffer.from(`${requestOf(clone, '')}0001`)), undefined)
})
