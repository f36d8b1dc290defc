/** Fetches to expect after a push: only repeated ones, in the order of their frequency. */

import t from 'tap'
import { normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { FETCH_FLAGS } from '../../../gateway/packs/normal-request.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { RepeatedFetches } from '../../../gateway/packs/repeated-fetches.js'
import { packetLine } from '../../helpers/git-requests.js'

const [OLD, NEW, BASE] = ['1'.repeat(40), '2'.repeat(40), '3'.repeat(40)]
const PATH = '/r.git'
const MEBIBYTE = 1 << 20

async function listOf(tip: string, branch = 'main'): Promise<ReferenceList> {
  const lines = [
    `${tip} HEAD symref-target:refs/heads/${branch}\n`,
    `${tip} refs/heads/${branch}\n`,
  ]
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

async function aCounter() {
  const fetches = new RepeatedFetches()
  const before = await listOf(OLD)
  return {
    note(request: typeof CLONE, times: number, { bytes = MEBIBYTE, isNew = true } = {}) {
      for (let left = times; left > 0; left -= 1) {
        fetches.note(PATH, request, { references: before, bytes, isNew })
      }
    },
    async expected(tip = NEW, { branch = 'main', line = [NEW, OLD, BASE] } = {}) {
      const lineOf = () => new Map(line.map((oid, at) => [oid, at]))
      const found: string[] = []
      const now = await listOf(tip, branch)
      for await (const { text } of fetches.expected(PATH, now, lineOf)) {
        found.push(text.split('\n').slice(2).join(' '))
      }
      return found
    },
  }
}

t.test('fetches that two clients have sent are expected for the next tip, once', async (t) => {
  const { note, expected } = await aCounter()
  note(CLONE, 2)
  note(SHALLOW, 3)
  note(fetchOf(`want ${OLD}`, 'filter blob:none', 'done'), 1)
  t.strictSame(await expected(OLD), [], 'the branch has not moved')
  t.strictSame(await expected(), [`want ${NEW} done deepen 1`, `want ${NEW} done ofs-delta`])
  t.strictSame(await expected(), [])
})

t.test('one client is sufficient if another process has made its answer', async (t) => {
  const { note, expected } = await aCounter()
  note(CLONE, 1, { isNew: false })
  t.strictSame(await expected(), [`want ${NEW} done ofs-delta`])
})

t.test('fetches of clients with different commits become that of the former tip', async (t) => {
  const { note, expected } = await aCounter()
  for (const oid of [BASE, '4'.repeat(40)]) {
    note(fetchOf(`want ${OLD}`, `have ${oid}`, 'thin-pack'), 1)
    note(fetchOf(`want ${OLD}`, `have ${oid}`, `shallow ${oid}`, 'deepen 1'), 1)
  }
  t.strictSame(await expected(), [
    `want ${NEW} have ${OLD} shallow ${OLD} done deepen 1`,
    `want ${NEW} have ${BASE} done thin-pack`,
  ])
})

t.test(
  'forms are counted for all branches, and forgotten if clients stop using them',
  async (t) => {
    const { note, expected } = await aCounter()
    note(CLONE, 1)
    note(fetchOf(`want ${BASE}`, 'ofs-delta', 'done'), 1)
    note(SHALLOW, 4)
    const clone = `want ${NEW} done ofs-delta`
    const shallow = `want ${NEW} done deepen 1`
    t.strictSame(await expected(), [shallow, clone])
    note(SHALLOW, 2)
    t.strictSame(await expected(), [shallow])
  },
)

t.test('nothing is expected that the former fetches do not show', async (t) => {
  const cases = {
    'a long answer': { request: CLONE, bytes: 17 * MEBIBYTE },
    'several wants': { request: fetchOf(`want ${OLD}`, `want ${BASE}`, 'done') },
    'more depth than 1': { request: fetchOf(`want ${OLD}`, `have ${BASE}`, 'deepen 2', 'done') },
    'a branch that is gone': { request: CLONE, branch: 'other' },
    'a former tip outside the line': {
      request: fetchOf(`want ${OLD}`, `have ${BASE}`, 'done'),
      line: [NEW, BASE],
    },
  }
  for (const [name, { request, bytes, ...after }] of Object.entries<{
    readonly request: typeof CLONE
    readonly bytes?: number
    readonly branch?: string
    readonly line?: string[]
  }>(cases)) {
    const { note, expected } = await aCounter()
    note(request, 2, { bytes })
    t.strictSame(await expected(NEW, after), [], name)
  }
})

t.test('at most four answers are expected after a push', async (t) => {
  const { note, expected } = await aCounter()
  for (let depth = 1; depth <= 6; depth += 1) {
    note(fetchOf(`want ${OLD}`, `deepen ${depth}`, 'done'), 2)
  }
  t.equal((await expected()).length, 4)
})
