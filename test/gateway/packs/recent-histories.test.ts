/** Recent histories: read once, then extended by what is new. */

import t from 'tap'
import type { HistoryQuestion } from '../../../cgi/objects/recent-commits.js'
import { RecentHistories } from '../../../gateway/packs/recent-histories.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { packetLine } from '../../helpers/git-requests.js'

const OWNER = { repositoryPath: '/r.git', client: () => 'somebody' }

const idOf = (number: number) => String(number).padStart(40, '0')

async function listOf(...branches: readonly number[]): Promise<ReferenceList> {
  const lines = branches.map((tip, at) => `${idOf(tip)} refs/heads/b${at}\n`)
  const list = await ReferenceList.parse(Buffer.from(`${lines.map(packetLine).join('')}0000`))
  if (list === undefined) throw new Error('not a list')
  return list
}

/** Histories of commits with the numbers from 1, each the parent of the next one. */
function line() {
  const questions: HistoryQuestion[] = []
  const histories = new RecentHistories(async (_owner, question) => {
    questions.push(question)
    const tip = Math.max(...question.tips.map(Number))
    const known = Math.max(0, ...question.known.map(Number))
    const count = Math.min(Math.max(tip - known, 0), question.count)
    return Array.from({ length: count }, (_, at) => [idOf(tip - at), idOf(tip - at - 1)])
  })
  return { histories, questions }
}

t.test('a history is read once, with the branches', async (t) => {
  const { histories, questions } = line()
  const [tip, branch] = [idOf(9), idOf(7)]
  const list = await listOf(9, 7)
  t.equal(histories.known('/r.git', tip), undefined)
  const read = () => histories.read(OWNER, tip, list)
  const [one, other] = await Promise.all([read(), read()])
  t.ok(one?.has(branch))
  t.equal(other, one)
  t.equal(histories.known('/r.git', branch), one)
  t.equal(await read(), one)
  t.match(questions, [{ tips: [tip, branch], known: [] }])
})

t.test('after a push, git reads only what is new', async (t) => {
  const { histories, questions } = line()
  await histories.read(OWNER, idOf(9), await listOf(9, 7))
  const graph = await histories.read(OWNER, idOf(12), await listOf(12, 7))
  t.match(questions[1], { tips: [idOf(12)], known: [idOf(9), idOf(7)] })
  t.strictSame(graph?.firstParents(idOf(12), 4), [12, 11, 10, 9].map(idOf))
})

t.test('a failed read is tried again, and so is that of a missing commit', async (t) => {
  let tries = 0
  const asked: HistoryQuestion[] = []
  const histories = new RecentHistories(async (_owner, question) => {
    asked.push(question)
    tries += 1
    if (tries === 1) throw new Error('busy')
    return tries === 2 ? [] : [[idOf(1)]]
  })
  const read = async () => histories.read(OWNER, idOf(1), await listOf(1))
  await t.rejects(read(), { message: 'busy' })
  t.equal(await read(), undefined)
  t.ok((await read())?.has(idOf(1)))
  t.same(
    asked.map(({ known }) => known),
    [[], [], []],
  )
})

t.test('a history that has grown long is read anew', async (t) => {
  const { histories, questions } = line()
  for (let tip = 1_000; tip <= 6_000; tip += 1_000) {
    await histories.read(OWNER, idOf(tip), await listOf(tip))
  }
  t.same(
    questions.map(({ known }) => known.map(Number)),
    [[], [1_000], [2_000], [3_000], [4_000], []],
  )
  t.equal(histories.known('/r.git', idOf(6_000))?.size, 2_048)
})

t.test('only commits below the present branches are reached', async (t) => {
  const { histories } = line()
  const reached = async (...tips: number[]) =>
    [...histories.reached('/r.git', await listOf(...tips))].map(Number)
  t.same(await reached(4), [], 'before the history is read')
  await histories.read(OWNER, idOf(4), await listOf(4))
  t.same(await reached(4), [4, 3, 2, 1, 0])
  t.same(await reached(2), [2, 1, 0], 'after the branch went back')
  t.same(await reached(5), [], 'after a push that was not read')
  const list = await listOf(5)
  t.equal(histories.reached('/r.git', list).size, 0)
  await histories.read(OWNER, idOf(5), list)
  t.equal(histories.reached('/r.git', list).size, 6)
})

t.test('commits near the known ones are read without git, also for the first fetch', async (t) => {
  const questions: HistoryQuestion[] = []
  const near: string[] = []
  const histories = new RecentHistories(
    async (_owner, question) => {
      questions.push(question)
      return [5, 4, 3].map((number) => [idOf(number), idOf(number - 1)])
    },
    async (_path, { tips, isKnown }) => {
      const [tip = ''] = tips
      near.push(tip)
      const below = idOf(Number(tip) - 1)
      return isKnown(below) ? [[tip, below]] : undefined
    },
  )
  const readRepeated = async (tip: number) =>
    histories.readRepeated(OWNER, idOf(tip), await listOf(tip))
  t.equal(await readRepeated(5), undefined, 'nothing is known')
  t.ok((await readRepeated(5))?.has(idOf(5)), 'the second fetch')
  t.equal(questions.length, 1)
  const graph = await readRepeated(6)
  t.strictSame(graph?.firstParents(idOf(6), 3), [6, 5, 4].map(idOf))
  t.equal(await readRepeated(9), undefined, 'far away')
  t.equal(questions.length, 1, 'git did not run')
  await readRepeated(9)
  t.equal(questions.length, 2)
  t.strictSame(near, [6, 9, 9].map(idOf))
})
