/** Updates of shallow workspaces: which commits are shallow, and what a shared pack must have. */

import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { FETCH_FLAGS } from '../../../gateway/packs/normal-request.js'
import { RecentHistories } from '../../../gateway/packs/recent-histories.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { isShallowUpdate, ShallowUpdates } from '../../../gateway/packs/shallow-updates.js'
import type { WarmAnswer } from '../../../gateway/packs/warm-answer.js'
import { readFetchAnswer } from '../../helpers/fetch-answers.js'
import { packetLine } from '../../helpers/git-requests.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const OWNER = { repositoryPath: '/r.git', client: () => 'somebody' }

/** Commits by the name of one letter with their parents: M merges two branches that begin at A. */
const PARENTS = { M: 'LR', L: 'K', K: 'A', R: 'A', A: 'Z' } as const

const idOf = (name: string) => name.charCodeAt(0).toString(16).repeat(20)

function fetchOf(text: string) {
  const lines = text
    .split(', ')
    .map((line) => line.replace(/ ([A-Z])$/, (_, name) => ` ${idOf(name)}`))
  const request = normalFetch(lines, { version: 2, objectFormat: 'sha1', flags: FETCH_FLAGS })
  if (request === undefined) throw new Error('not a fetch')
  return request
}

/** Answers updates in one repository whose only branch is at M; other packs are too long. */
async function updates(t: Test, { pairsMax = 100, smallMax = 0 } = {}) {
  const references = await ReferenceList.parse(
    Buffer.from(`${packetLine(`${idOf('M')} refs/heads/main\n`)}0000`),
  )
  if (references === undefined) throw new Error('not a list')
  const histories = new RecentHistories(async () =>
    Object.entries(PARENTS).map(([name, parents]) => [idOf(name), ...[...parents].map(idOf)]),
  )
  await histories.read(OWNER, idOf('M'), references)
  const pairs: string[] = []
  const offsetDeltas: boolean[] = []
  /** Stored answers by the texts of their requests. */
  const stored = new Map<string, Buffer>()
  const nameOf = (oid: string) => String.fromCharCode(Number.parseInt(oid.slice(0, 2), 16))
  const shallow = new ShallowUpdates(histories, {
    git: async (_path, contents) => {
      pairs.push(...contents.pairs.map((pair) => pair.map(nameOf).join('')))
      offsetDeltas.push(contents.hasOffsetDeltas)
      return contents.pairs.length > pairsMax ? undefined : Buffer.from('PACK')
    },
    small: async (_path, { pairs }) => (pairs.length > smallMax ? undefined : Buffer.from('SMALL')),
  })
  const folder = await temporaryFolder(t)
  /** Returns the lines before the pack, with the names of commits; undefined for git's answer. */
  const answer = async (text: string) => {
    const asked = await shallow.find(OWNER, fetchOf(text), references)
    const answered =
      asked &&
      (await shallow.answer(asked, async ({ request, write, writeSmall }) => {
        const path = join(folder, `${process.hrtime.bigint()}`)
        const file = await open(path, 'w')
        const options = { file: file.fd, signal: new AbortController().signal }
        if (!stored.has(request.text) && !(await writeSmall(options))) await write(options)
        await file.close()
        const body = stored.get(request.text) ?? (await readFile(path))
        stored.set(request.text, body)
        return { command: 'fetch', outcome: 'miss', body, bytes: body.byteLength }
      }))
    if (answered === undefined) return undefined
    const { lines } = readFetchAnswer(await bytesOf(answered.body))
    return lines.map((line) => line.replace(/[0-9a-f]{40}/, nameOf)).join(', ')
  }
  return { answer, pairs, offsetDeltas, stored, shallow, references, folder }
}

async function bytesOf(body: WarmAnswer['body']): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  if (body instanceof Uint8Array) chunks.push(body)
  else for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

t.test('the depth of an update counts along all parents', async (t) => {
  const { answer } = await updates(t)
  const shallow = 'shallow-info, shallow K, shallow A, packfile'
  t.equal(await answer('want M, deepen 3, have A, shallow Z, done'), shallow)
})

t.test('a commit is shallow at the depth and complete above it', async (t) => {
  const { answer } = await updates(t)
  const at = (depth: number, present: string) =>
    answer(`want M, deepen ${depth}, have L, ${present}, done`)
  t.equal(await at(2, 'shallow L'), 'shallow-info, shallow R, packfile', 'L was shallow')
  t.equal(
    await at(3, 'shallow L'),
    'shallow-info, shallow K, shallow A, unshallow L, packfile',
    'L gets its parents',
  )
  t.equal(await at(1, 'shallow L'), 'shallow-info, shallow M, packfile', 'L is below the depth')
})

t.test('the commits of the history are acknowledged, and the negotiation ends', async (t) => {
  const { answer } = await updates(t)
  t.equal(
    await answer('want M, deepen 1, have L, have X, shallow L'),
    'acknowledgments, ACK L, ready, shallow-info, shallow M, packfile',
  )
})

t.test('commits at the depth are compared with all bases, others with their parent', async (t) => {
  const { answer, pairs, shallow } = await updates(t)
  shallow.note(OWNER, ['L', 'A', 'X'].map(idOf))
  await answer('want M, deepen 2, have A, shallow A, done')
  t.strictSame(pairs.splice(0).toSorted(), ['LA', 'LL', 'ML', 'RA', 'RL'])
  // R is not a first parent, so the answer is for clients that are far from the tip.
  await answer('want M, deepen 2, have R, shallow R, done')
  t.strictSame(pairs.toSorted(), ['LA', 'LL', 'LR', 'ML', 'RA', 'RL', 'RR'], 'not with X')
})

t.test('a pack of few objects is made without git', async (t) => {
  const { answer, pairs, stored } = await updates(t, { smallMax: 1 })
  await answer('want M, deepen 1, have L, shallow L, done')
  t.strictSame(pairs, [])
  t.match([...stored.values()].join(), /SMALL/)
  await answer('want M, deepen 3, have L, shallow L, done')
  t.ok(pairs.length > 1, 'git makes a larger one')
})

t.test('deltas name their base by its position only if the client can read them', async (t) => {
  const { answer, offsetDeltas } = await updates(t)
  await answer('want M, deepen 1, have L, shallow L, done')
  await answer('want M, deepen 1, have L, shallow L, ofs-delta, done')
  t.strictSame(offsetDeltas, [false, true])
})

t.test('a client without any of the bases gets another answer', async (t) => {
  const { answer, pairs } = await updates(t)
  await answer('want M, deepen 1, have L, shallow L, done')
  t.strictSame(pairs.splice(0), ['ML'])
  t.ok(await answer('want M, deepen 1, have A, shallow A, done'))
  t.ok(pairs.includes('MA'))
})

t.test('only clients with the same needs share an answer', async (t) => {
  const { answer, shallow, stored } = await updates(t)
  shallow.note(OWNER, ['K', 'L'].map(idOf))
  await answer('want M, deepen 1, have L, shallow L, done')
  await answer('want M, deepen 1, have K, shallow K, done')
  t.equal(stored.size, 1, 'other commits near the tip')
  // The last client has none of the commits of the first answer.
  const others = [
    'want L, deepen 1, have K, shallow K, done',
    'want M, deepen 2, have L, shallow L, done',
    'want M, deepen 1, have L, shallow L, ofs-delta, done',
    'want M, deepen 1, have R, shallow R, done',
    'want M, deepen 1, have A, shallow A, done',
  ]
  for (const [at, text] of others.entries()) {
    await answer(text)
    t.equal(stored.size, at + 2, text)
  }
})

t.test('the answer of an ended process is not used', async (t) => {
  const { shallow, references, folder } = await updates(t)
  const request = fetchOf('want M, deepen 1, have L, shallow L, done')
  const asked = await shallow.find(OWNER, request, references)
  if (asked === undefined) throw new Error('no answer can be shared')
  const file = await open(join(folder, 'ended'), 'w')
  const answering = shallow.answer(asked, async ({ write }) => {
    await write({ file: file.fd, signal: AbortSignal.abort() })
    return undefined
  })
  await t.rejects(answering, { name: 'AbortError' })
  await file.close()
})

t.test('git answers if the parents of a commit above the depth are unknown', async (t) => {
  const { answer } = await updates(t)
  t.ok(await answer('want M, deepen 4, have A, shallow A, done'), 'Z is at the depth')
  t.equal(await answer('want M, deepen 5, have A, shallow A, done'), undefined)
})

t.test('git answers a client of which no commit is in the history', async (t) => {
  const { answer } = await updates(t)
  t.ok(await answer('want M, deepen 1, have L, shallow L, done'))
  t.equal(await answer('want M, deepen 1, have X, shallow X, done'), undefined)
})

t.test('only fetches of one commit with a depth and commits are updates', async (t) => {
  const isUpdate = (text: string) => isShallowUpdate(fetchOf(text))
  t.ok(isUpdate('want M, deepen 1, have L'))
  t.ok(isUpdate('want M, deepen 64, have L, shallow L, no-progress, ofs-delta, thin-pack, done'))
  for (const text of [
    'want M, deepen 1, done',
    'want M, have L',
    'want M, want L, deepen 1, have A',
    'want M, deepen 65, have L',
    'want M, deepen 1, deepen-relative, have L',
    'want M, deepen-since 1500000000, have L',
    'want M, deepen 1, filter blob:none, have L',
    'want M, deepen 1, include-tag, have L',
  ]) {
    t.notOk(isUpdate(text), text)
  }
})

t.test('a pack that is too long is made for half of the commits, the last ones', async (t) => {
  const { answer, pairs, shallow } = await updates(t, { pairsMax: 1 })
  shallow.note(OWNER, ['A', 'K', 'L'].map(idOf))
  t.match(await answer('want M, deepen 1, have L, shallow L, done'), 'packfile')
  t.strictSame(pairs, ['ML', 'MK', 'MA', 'ML'])
  const { answer: refused } = await updates(t, { pairsMax: 0 })
  t.equal(await refused('want M, deepen 1, have L, shallow L, done'), undefined)
})

t.test('an update in advance is for the former tips, the last one first', async (t) => {
  const { answer, pairs, shallow, references, folder } = await updates(t)
  await answer('want M, deepen 1, have L, shallow L, done')
  pairs.length = 0
  const form = fetchOf('want L, deepen 1, have A, shallow A, done')
  const expected = { form, tip: idOf('M'), former: ['L', 'K', 'A'].map(idOf) }
  for await (const { write } of shallow.expected(OWNER, expected, references)) {
    const file = await open(join(folder, 'expected'), 'w')
    await write({ file: file.fd, signal: new AbortController().signal })
    await file.close()
  }
  t.strictSame(pairs, ['ML', 'MK', 'MA'])
})
