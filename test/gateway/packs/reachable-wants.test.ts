/** Verdicts about wanted commits: one process for equal questions, and no shared refusals. */

import t from 'tap'
import type { Reachability } from '../../../cgi/objects/reachability.js'
import { Failure } from '../../../conf/failures.js'
import {
  type AskReachability,
  ReachableWants,
  type WantsQuestion,
} from '../../../gateway/packs/reachable-wants.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { packetLine } from '../../helpers/git-requests.js'

const [TIP, OLD, OLDER] = ['1'.repeat(40), '2'.repeat(40), '3'.repeat(40)]

async function listOf(tip = TIP): Promise<ReferenceList> {
  const list = await ReferenceList.parse(
    Buffer.from(`${packetLine(`${tip} refs/heads/main\n`)}0000`),
  )
  if (list === undefined) throw new Error('not a list')
  return list
}

const LIST = await listOf()

function verdictsOf(
  answer: (call: number) => Promise<Reachability>,
  reached: readonly string[] = [],
  files: readonly string[] = [],
) {
  const asked: string[] = []
  const ask: AskReachability = (_, { oids, tips }) => {
    asked.push([...oids, 'of', ...new Set(tips)].join(' '))
    return answer(asked.length)
  }
  const wants = new ReachableWants(ask, {
    histories: { reached: () => new Set(reached) },
    files: { haveAll: (_path, _references, oids) => oids.every((oid) => files.includes(oid)) },
  })
  const check = (question: Partial<WantsQuestion>) =>
    wants.check({
      repositoryPath: '/r.git',
      client: 'ada',
      references: LIST,
      wants: [OLD],
      ...question,
    })
  return { asked, check }
}

t.test('equal questions run git once, until the refs change', async (t) => {
  const { asked, check } = verdictsOf(async () => ({ kind: 'reachable' }))
  await Promise.all([check({}), check({ wants: [TIP, OLD] }), check({ client: 'bob' })])
  t.strictSame(asked, [`${OLD} of ${TIP}`], 'a tip needs no check')
  await check({ wants: [OLD, OLDER] })
  t.strictSame(asked.slice(1), [`${OLD} ${OLDER} of ${TIP}`])
  t.match(await check({ references: await listOf(OLDER) }), { kind: 'reachable' })
  t.strictSame(asked.slice(2), [`${OLD} of ${OLDER}`])
})

t.test('an error is not kept, and a client does not get the limit of another', async (t) => {
  const { asked, check } = verdictsOf(async (call) => {
    if (call === 1) throw new Failure('throttled', 'too many')
    return { kind: 'reachable' }
  })
  const [first, second] = await Promise.allSettled([check({}), check({ client: 'bob' })])
  t.match(first, { status: 'rejected', reason: { message: 'too many' } })
  t.match(second, { status: 'fulfilled', value: { kind: 'reachable' } })
  t.equal(asked.length, 2)
})

t.test('git does not run for commits that the history in memory reaches', async (t) => {
  const { asked, check } = verdictsOf(async () => ({ kind: 'reachable' }), [OLD])
  t.strictSame(await check({ wants: [TIP, OLD] }), { kind: 'reachable' })
  t.strictSame(asked, [])
  await check({ wants: [OLD, OLDER] })
  t.strictSame(asked, [`${OLD} ${OLDER} of ${TIP}`])
})

t.test('git does not run for files that a tip is known to have', async (t) => {
  const { asked, check } = verdictsOf(async () => ({ kind: 'reachable' }), [], [OLD])
  t.strictSame(await check({ wants: [OLD] }), { kind: 'reachable' })
  t.strictSame(asked, [])
  await check({ wants: [OLD, OLDER] })
  t.strictSame(asked, [`${OLD} ${OLDER} of ${TIP}`])
})
