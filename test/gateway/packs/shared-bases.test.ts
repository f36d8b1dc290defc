/** Fetches into complete workspaces: which bases they share, and which are made in advance. */

import { t } from 'tap'
import { normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { FETCH_FLAGS } from '../../../gateway/packs/normal-request.js'
import { RecentHistories } from '../../../gateway/packs/recent-histories.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { isSharable, SharedBases, withObjects } from '../../../gateway/packs/shared-bases.js'
import { packetLine } from '../../helpers/git-requests.js'

const OWNER = { repositoryPath: '/r.git', client: () => 'ada' }

/** Ids of a line of commits: number 0 is the first one. */
const idOf = (number: number) => number.toString(16).padStart(40, '0')
/** A commit of a branch that begins at commit 90 of the line. */
const SIDE = 'f'.repeat(40)
const TIP = 100
const LATER = 101

function fetchOf(...lines: readonly string[]) {
  const request = normalFetch(lines, { version: 2, objectFormat: 'sha1', flags: FETCH_FLAGS })
  if (request === undefined) throw new Error('not a fetch')
  return request
}

/** Fetches of one repository, whose history is known. */
async function aRepository() {
  const references = await ReferenceList.parse(
    Buffer.from(`${packetLine(`${idOf(LATER)} refs/heads/main\n`)}0000`),
  )
  if (references === undefined) throw new Error('not a list')
  const histories = new RecentHistories(async () => [
    ...Array.from({ length: LATER }, (_, at) => [idOf(at + 1), idOf(at)]),
    [idOf(0)],
    [SIDE, idOf(90)],
  ])
  await histories.read(OWNER, idOf(LATER), references)
  const bases = new SharedBases(histories)
  const find = async (tip: number, haves: readonly string[], ...more: readonly string[]) =>
    await bases.find(
      OWNER,
      fetchOf(`want ${idOf(tip)}`, ...haves.map((oid) => `have ${oid}`), ...more),
      references,
    )
  return {
    bases,
    find,
    /** Returns how far below the tip the bases are for a client with these commits. */
    async basesOf(tip: number, ...haves: readonly string[]) {
      const shared = await find(tip, haves)
      return shared?.requests.map(({ text }) => {
        const [, oid = ''] = /^have (\w+)$/m.exec(text) ?? []
        return tip - Number.parseInt(oid, 16)
      })
    },
    /** Returns the bases of the fetches that are expected for a tip; some answers are too long. */
    async expected(tip: number, longFrom = 1_000) {
      const form = fetchOf(`want ${idOf(tip - 1)}`, `have ${idOf(0)}`, 'thin-pack')
      const found: number[] = []
      const asked = { form, tip: idOf(tip), former: [idOf(tip - 1)] }
      for await (const request of bases.expected(OWNER, asked, references)) {
        const [, oid = ''] = /^have (\w+)$/m.exec(request.text) ?? []
        const base = tip - Number.parseInt(oid, 16)
        found.push(base)
        if (base >= longFrom) bases.noteLong(request)
      }
      return found
    },
  }
}

t.test('a client shares the base that its nearest commit reaches', async (t) => {
  const rows: ReadonlyArray<readonly [behind: number, base: number]> = [
    [1, 1],
    [5, 6],
    [6, 6],
    [7, 8],
    [17, 24],
    [33, 48],
    [97, 100],
  ]
  for (const [behind, base] of rows) {
    const { basesOf } = await aRepository()
    t.strictSame(await basesOf(TIP, idOf(TIP - behind)), [base], `${behind} below`)
  }
  const { basesOf } = await aRepository()
  t.strictSame(await basesOf(TIP, idOf(10), SIDE), [12], 'through a commit of another branch')
})

t.test('a client gets the answers for lower bases first, unless they are too long', async (t) => {
  const { bases, basesOf, find } = await aRepository()
  for (const behind of [3, 20, 6]) await basesOf(TIP, idOf(TIP - behind))
  t.strictSame(await basesOf(TIP, idOf(TIP - 3)), [24, 6, 3])
  t.strictSame(await basesOf(LATER, idOf(TIP - 3)), [4], 'another tip')
  const [longest] = (await find(TIP, [idOf(TIP - 3)]))?.requests ?? []
  if (longest !== undefined) bases.noteLong(longest)
  t.strictSame(await basesOf(TIP, idOf(TIP - 3)), [6, 3])
  t.strictSame(await basesOf(TIP, idOf(TIP - 20)), [], 'its own base is too long')
})

t.test('fetches without a common base share nothing', async (t) => {
  const { basesOf, find } = await aRepository()
  t.equal(await basesOf(TIP, 'e'.repeat(40)), undefined, 'unknown commits')
  t.equal(await basesOf(TIP, idOf(TIP)), undefined, 'a client that has the tip')
  const both = [`want ${idOf(LATER)}`]
  t.equal(await find(TIP, [idOf(1)], ...both), undefined, 'several wants')
})

t.test('known commits are acknowledged, unless the client is done', async (t) => {
  const { find } = await aRepository()
  const haves = [idOf(TIP - 2), 'e'.repeat(40)]
  const head = (await find(TIP, haves))?.head.toString()
  t.match(head, `ACK ${idOf(TIP - 2)}\n`)
  t.notMatch(head, 'e'.repeat(40))
  t.match(head, /ready\n0001$/)
  t.equal((await find(TIP, haves, 'done'))?.head.length, 0)
})

t.test('the base that suffices for most clients is expected, if its answer is short', async (t) => {
  const { basesOf, expected } = await aRepository()
  t.strictSame(await expected(50), [1], 'no client was counted')
  for (let clients = 0; clients < 19; clients += 1) await basesOf(51, idOf(43))
  await basesOf(51, idOf(11))
  t.strictSame(await expected(52, 7), [8, 6], 'down to a short answer')
  for (let clients = 0; clients < 19; clients += 1) await basesOf(53, idOf(33))
  t.strictSame(await expected(54, 7), [8, 6], 'one base below the last short answer')
  t.strictSame(await expected(55), [8], 'short now')
  t.strictSame(await basesOf(55, idOf(54)), [8, 1])
})

t.test('the first commit of a short history is expected once', async (t) => {
  const { basesOf, expected } = await aRepository()
  for (let clients = 0; clients < 19; clients += 1) await basesOf(TIP, idOf(0))
  t.strictSame(await expected(7, 7), [7, 6])
})

t.test('only clients with commits and all of their history share a base', async (t) => {
  const isShared = (...lines: readonly string[]) =>
    isSharable(fetchOf(`want ${idOf(TIP)}`, ...lines))
  const have = `have ${idOf(1)}`
  t.ok(isShared(have))
  t.ok(isShared(have, 'filter blob:none', 'include-tag', 'thin-pack', 'ofs-delta', 'done'))
  t.notOk(isShared('done'), 'a clone')
  for (const line of [
    `shallow ${idOf(1)}`,
    'deepen 1',
    'deepen-since 1500000000',
    'deepen-not v1',
    'wait-for-done',
  ]) {
    t.notOk(isShared(have, line, 'done'), line)
  }
})

t.test('arguments are part of the shared form', async (t) => {
  const form = withObjects(fetchOf(`want ${idOf(1)}`, 'thin-pack'), [`want ${idOf(2)}`])
  t.equal(form.text.split('\n').slice(2).join(), `want ${idOf(2)},done,thin-pack`)
})
