/** Fetches to expect after a push: only repeated ones, in the order of their frequency. */

import t from 'tap'
import { normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { FETCH_FLAGS } from '../../../gateway/packs/normal-request.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { RepeatedFetches } from '../../../gateway/packs/repeated-fetches.js'
import { withObjects } from '../../../gateway/packs/shared-bases.js'
import { packetLine } from '../../helpers/git-requests.js'

const [OLD, NEW, BASE, LATER] = ['1', '2', '3', '4'].map((digit) => digit.repeat(40)) as [
  string,
  string,
  string,
  string,
]
const MEBIBYTE = 1 << 20
/** Tip whose clients request its files. */
const CHECKED_OUT = '6'.repeat(40)

/** Returns a list of branches with these tips. */
async function listOf(...tips: readonly string[]): Promise<ReferenceList> {
  const lines = tips.map((tip, at) => `${tip} refs/heads/branch-${at}\n`)
  const list = await ReferenceList.parse(Buffer.from(`${lines.map(packetLine).join('')}0000`))
  if (list === undefined) throw new Error('not a list')
  return list
}

function fetchOf(...lines: readonly string[]) {
  const request = normalFetch(lines, { version: 2, objectFormat: 'sha1', flags: FETCH_FLAGS })
  if (request === undefined) throw new Error('not a fetch')
  return request
}

const CLONE = fetchOf(`want ${OLD}`, 'ofs-delta', 'done')
const SHALLOW = fetchOf(`want ${OLD}`, 'deepen 1', 'done')

/** Counts fetches of a repository whose branches have these tips at first. */
async function aCounter(...tips: readonly string[]) {
  /** Returns the length of an answer that is made in advance. */
  let lengthOf = (_text: string) => MEBIBYTE
  const fetches = new RepeatedFetches()
  const repositoryPath = '/r.git'
  let references = await listOf(...tips)
  return {
    note(
      request: typeof CLONE,
      times: number,
      { isNew = true, ...sizes }: { bytes?: number | undefined; isNew?: boolean } = {},
    ) {
      for (let left = times; left > 0; left -= 1) {
        fetches.note({ repositoryPath, request, references, isNew, bytes: MEBIBYTE, ...sizes })
      }
    },
    makeLong(text: string) {
      lengthOf = (other) => (other.includes(text) ? 17 * MEBIBYTE : MEBIBYTE)
    },
    /** Returns the fetches that are expected when the branches have these tips. */
    async push(...pushed: readonly string[]) {
      references = await listOf(...pushed)
      const found: string[] = []
      const expected = fetches.expected(repositoryPath, references, {
        async *shared({ form, tip, former }) {
          const haves = former.map((oid) => `have ${oid}`)
          yield { request: withObjects(form, [`want ${tip}`, ...haves]) }
        },
        async *checkouts(tips) {
          for (const tip of tips.filter((oid) => oid === CHECKED_OUT)) {
            yield { request: fetchOf(`want ${tip}`, 'filter blob:none') }
          }
        },
      })
      for await (const { request, noteLength } of expected) {
        noteLength?.(lengthOf(request.text))
        found.push(request.text.split('\n').slice(2).join(' '))
      }
      return found
    },
  }
}

t.test('fetches that two clients have sent are expected for the next tip, once', async (t) => {
  const { note, push } = await aCounter(OLD)
  note(CLONE, 2)
  note(SHALLOW, 3)
  note(fetchOf(`want ${OLD}`, 'filter blob:none', 'done'), 1)
  t.strictSame(await push(OLD), [], 'the branch has not moved')
  t.strictSame(await push(NEW), [`want ${NEW} done deepen 1`, `want ${NEW} done ofs-delta`])
  t.strictSame(await push(NEW), [])
})

t.test('one client is sufficient if another process has made its answer', async (t) => {
  const { note, push } = await aCounter(OLD)
  note(CLONE, 1, { isNew: false })
  t.strictSame(await push(NEW), [`want ${NEW} done ofs-delta`])
})

t.test('fetches of clients with different commits have one form', async (t) => {
  const { note, push } = await aCounter(OLD)
  for (const oid of [BASE, LATER]) note(fetchOf(`want ${OLD}`, `have ${oid}`, 'thin-pack'), 1)
  t.strictSame(await push(NEW), [`want ${NEW} have ${OLD} done thin-pack`])
})

t.test('clones of all branches are expected with the tips of all branches', async (t) => {
  const { note, push } = await aCounter(OLD, BASE)
  const whole = fetchOf(`want ${BASE}`, `want ${OLD}`, 'done')
  note(whole, 2)
  note(CLONE, 2)
  t.strictSame(await push(OLD, NEW), [], 'no client has fetched the branch by itself')
  note(CLONE, 2)
  note(fetchOf(`want ${NEW}`, `want ${OLD}`, 'done'), 2)
  const expected = [`want ${NEW} want ${LATER} done`, `want ${LATER} done ofs-delta`]
  t.same((await push(LATER, NEW)).toSorted(), expected.toSorted())
})

t.test('an expected clone of all branches may be longer than other answers', async (t) => {
  for (const [mebibytes, count] of [
    [64, 1],
    [65, 0],
  ] as const) {
    const { note, push } = await aCounter(OLD, BASE)
    note(SHALLOW, 2)
    note(fetchOf(`want ${BASE}`, `want ${OLD}`, 'done'), 2, { bytes: mebibytes * MEBIBYTE })
    const expected = await push(NEW, BASE)
    const wholes = expected.filter((text) => text === `want ${NEW} want ${BASE} done`)
    t.equal(wholes.length, count, `${mebibytes} MiB`)
  }
})

t.test('clients of most pushed branches are expected for new branches', async (t) => {
  const { note, push } = await aCounter(OLD)
  note(CLONE, 2)
  t.strictSame(await push(OLD, NEW), [], 'the first push')
  note(fetchOf(`want ${NEW}`, 'ofs-delta', 'done'), 2)
  t.strictSame(await push(OLD, NEW, BASE), [`want ${BASE} done ofs-delta`], 'one of one')
  t.strictSame(await push(OLD, NEW, BASE, LATER), [`want ${LATER} done ofs-delta`], 'one of two')
  t.strictSame(await push(OLD, NEW, BASE, LATER, '5'.repeat(40)), [], 'one of three')
})

t.test('forms are counted for all branches, and forgotten if no client uses them', async (t) => {
  const { note, push } = await aCounter(OLD, BASE)
  note(CLONE, 1)
  note(fetchOf(`want ${BASE}`, 'ofs-delta', 'done'), 1)
  note(SHALLOW, 4)
  t.strictSame(await push(NEW, BASE), [`want ${NEW} done deepen 1`, `want ${NEW} done ofs-delta`])
  note(fetchOf(`want ${NEW}`, 'deepen 1', 'done'), 2)
  t.strictSame(await push(LATER, BASE), [`want ${LATER} done deepen 1`])
})

t.test('nothing is expected that the former fetches do not show', async (t) => {
  const cases = {
    'a long answer': { request: CLONE, bytes: 17 * MEBIBYTE },
    'several wants, but not all branches': { request: fetchOf(`want ${OLD}`, `want ${BASE}`) },
    'a shallow workspace by time': {
      request: fetchOf(`want ${OLD}`, `have ${BASE}`, 'deepen-since 1', 'done'),
    },
    'a branch that is gone': { request: CLONE, tips: [LATER] },
  }
  for (const [name, { request, bytes, tips = [NEW, LATER] }] of Object.entries<{
    readonly request: typeof CLONE
    readonly bytes?: number
    readonly tips?: string[]
  }>(cases)) {
    const { note, push } = await aCounter(OLD, LATER)
    note(request, 2, { bytes })
    t.strictSame(await push(...tips), [], name)
  }
})

t.test('a form with a long answer is expected again when a client got a short one', async (t) => {
  const { note, push, makeLong } = await aCounter(OLD)
  const clone = (tip: string) => fetchOf(`want ${tip}`, 'ofs-delta', 'done')
  makeLong('ofs-delta')
  note(clone(OLD), 4, { bytes: undefined })
  note(SHALLOW, 8)
  const expected = [`want ${NEW} done deepen 1`, `want ${NEW} done ofs-delta`]
  t.strictSame(await push(NEW), expected, 'its length was not known')
  note(clone(NEW), 4, { bytes: undefined })
  t.strictSame(await push(LATER), [`want ${LATER} done deepen 1`])
  note(clone(LATER), 2)
  t.equal((await push(BASE)).length, 2)
})

t.test('the files of a new tip are expected after its clones', async (t) => {
  const { note, push } = await aCounter(OLD)
  note(CLONE, 2)
  const clone = `want ${CHECKED_OUT} done ofs-delta`
  t.strictSame(await push(CHECKED_OUT), [clone, `want ${CHECKED_OUT} filter blob:none`])
  t.strictSame(await push(CHECKED_OUT, LATER), [], 'no client has fetched the new tip')
})

t.test('at most eight forms are expected after a push', async (t) => {
  const { note, push } = await aCounter(OLD)
  for (let depth = 1; depth <= 10; depth += 1) {
    note(fetchOf(`want ${OLD}`, `deepen ${depth}`, 'done'), 2)
  }
  t.equal((await push(NEW)).length, 8)
})
