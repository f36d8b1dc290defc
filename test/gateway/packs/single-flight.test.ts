/**
 * Single flights of two workers and one coordinator: one writes and all others read the same file.
 */

import { writeSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { Failure } from '../../../conf/failures.js'
import { releaseLease } from '../../../gateway/packs/answer-lease.js'
import type { GrowingFile } from '../../../gateway/packs/growing-file.js'
import {
  SingleFlight,
  SingleFlightMissed,
  type SingleFlightPlan,
} from '../../../gateway/packs/single-flight.js'
import {
  SingleFlightCoordinator,
  type SingleFlightNotice,
  type SingleFlightReport,
} from '../../../gateway/packs/single-flight-coordinator.js'
import { aPlan, joinAndRead, present, readText } from '../../helpers/single-flights.js'
import { temporaryFolder } from '../../helpers/temporary.js'

/** Upper bound for one second, with a margin for a busy machine. */
const BUSY_SECOND_MS = 2_000

/** Creates a channel with latency that delivers pending messages together in one tick. */
function lateChannel<Item>(latencyMs: number, take: (item: Item) => void): (item: Item) => void {
  let waiting: Item[] = []
  return (item) => {
    if (waiting.length === 0) {
      setTimeout(() => {
        const items = waiting
        waiting = []
        for (const one of items) take(one)
      }, latencyMs)
    }
    waiting.push(item)
  }
}

/** Creates a coordinator and two workers whose messages have this latency. */
async function twoWorkers(t: Test, latencyMs = 2) {
  const folder = await temporaryFolder(t)
  const channels = new Map<number, (notification: SingleFlightNotice) => void>()
  const board = new SingleFlightCoordinator({ folder, name: 'g' }, (member, notification) =>
    channels.get(member)?.(notification),
  )
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(line) })
  const reports: SingleFlightReport[] = []
  const startWorker = (member: number) =>
    new SingleFlight(
      {
        report: lateChannel(latencyMs, (report: SingleFlightReport) => {
          reports.push(report)
          board.take(member, report)
        }),
        listen: (take) => channels.set(member, lateChannel(latencyMs, take)),
      },
      log,
    )
  return { folder, board, lines, reports, one: startWorker(1), two: startWorker(2) }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + 10_000
  while (!(await isSo())) {
    if (Date.now() > deadlineMs) throw new Error('it did not come to that')
    await sleep(2)
  }
}

t.test('concurrent requests share one write and each reads the whole answer', async (t) => {
  const { folder, one, two } = await twoWorkers(t)
  const { plan, started, write, end } = aPlan(folder)
  const first = one.join(plan, present())
  await until(() => started.length === 1)
  const joined = [one, two, one, two, two].map((singleFlight) => singleFlight.join(plan, present()))
  write('the ')
  await sleep(30)
  write('whole ')
  joined.push(two.join(plan, present()))
  await sleep(30)
  write('answer')
  end()
  const all = await Promise.all([first, ...joined])
  t.strictSame(
    await Promise.all(all.map(({ body }) => readText(body))),
    all.map(() => 'the whole answer'),
  )
  t.strictSame(
    all.map(({ isLeader }) => isLeader),
    [true, ...joined.map(() => false)],
  )
  t.equal(started.length, 1)
  await until(async () => (await readdir(folder)).join() === 'k')
  const again = aPlan(folder)
  const next = joinAndRead(two, again.plan)
  await until(() => again.started.length === 1)
  again.write('anew')
  again.end()
  t.equal(await next, 'anew', 'a finished flight is not joined')
})

t.test('requests with different keys do not share an answer', async (t) => {
  const { folder, one, two } = await twoWorkers(t)
  const [a, b] = [aPlan(folder, 'a'), aPlan(folder, 'b')]
  const both = Promise.all([joinAndRead(one, a.plan), joinAndRead(two, b.plan)])
  await until(() => a.started.length + b.started.length === 2)
  a.write('A')
  b.write('B')
  a.end()
  b.end()
  t.strictSame(await both, ['A', 'B'])
})

t.test('a joiner never reads the bytes after the answer, whatever the latency', async (t) => {
  for (const latencyMs of [0, 1, 5, 20, 60]) {
    const { folder, one, two } = await twoWorkers(t, latencyMs)
    const { plan, started, write, end } = aPlan(folder)
    const first = joinAndRead(one, plan)
    await until(() => started.length === 1)
    write('answer')
    const { body } = await two.join(plan, present())
    const second = readText(body)
    end()
    t.strictSame(await Promise.all([first, second]), ['answer', 'answer'], `${latencyMs} ms`)
    await until(async () => (await readdir(folder)).join() === 'k')
  }
})

t.test('a joiner that comes at the very end reads the whole answer or misses', async (t) => {
  for (let delayMs = 0; delayMs < 30; delayMs += 1) {
    const { folder, one, two } = await twoWorkers(t, 4)
    const { plan, started, write, end } = aPlan(folder)
    const first = joinAndRead(one, plan)
    await until(() => started.length === 1)
    write('answer')
    // If it comes too late, it leads a new answer.
    const own = async (file: GrowingFile) => {
      await sleep(1)
      return { bytes: writeSync(file.file, 'answer') }
    }
    const late = sleep(delayMs).then(() => joinAndRead(two, { ...plan, write: own }))
    const outcome = Promise.race([
      late.catch((error: unknown) =>
        error instanceof SingleFlightMissed ? 'answer' : String(error),
      ),
      sleep(5_000, 'nothing', { ref: false }),
    ])
    await sleep(12)
    end()
    t.equal(await first, 'answer')
    t.equal(await outcome, 'answer', `after ${delayMs} ms`)
  }
})

t.test('a client that disconnects does not affect the others', async (t) => {
  const { folder, one, two } = await twoWorkers(t)
  const { plan, started, write, end } = aPlan(folder)
  const [leader, joiner] = [new AbortController(), new AbortController()]
  const seen = ['', '']
  const read = async (at: number, flight: SingleFlight, { signal }: AbortController) => {
    for await (const chunk of (await flight.join(plan, signal)).body) {
      seen[at] = `${seen[at]}${Buffer.from(chunk)}`
    }
  }
  const gone = [read(0, one, leader)]
  await until(() => started.length === 1)
  const stayed = [joinAndRead(one, plan), joinAndRead(two, plan)]
  gone.push(read(1, two, joiner))
  write('some ')
  await until(() => seen.every((text) => text === 'some '))
  leader.abort()
  joiner.abort()
  await Promise.all(gone)
  t.strictSame(seen, ['some ', 'some '])
  await sleep(400)
  t.notOk(started[0]?.signal.aborted)
  write('more')
  end()
  t.strictSame(await Promise.all(stayed), ['some more', 'some more'])
})

t.test(
  'the write continues for a worker that has joined and ends with the last reader',
  async (t) => {
    const { folder, one, two } = await twoWorkers(t)
    const { plan, started, write } = aPlan(folder)
    const [leader, joiner] = [new AbortController(), new AbortController()]
    const first = joinAndRead(one, plan, leader.signal)
    await until(() => started.length === 1)
    const second = joinAndRead(two, plan, joiner.signal)
    write('x')
    await sleep(20)
    leader.abort()
    await first
    await sleep(500)
    t.notOk(started[0]?.signal.aborted, 'the other worker has a reader')
    const leftAtMs = performance.now()
    joiner.abort()
    await second
    await until(() => started[0]?.signal.aborted === true)
    t.ok(performance.now() - leftAtMs < BUSY_SECOND_MS)
    await until(async () => (await readdir(folder)).length === 0)
    const again = aPlan(folder)
    const next = joinAndRead(one, again.plan)
    await until(() => again.started.length === 1)
    again.write('y')
    again.end()
    t.equal(await next, 'y', 'a later request starts a new flight')
  },
)

t.test('a moment without readers does not end the write', async (t) => {
  const { folder, one } = await twoWorkers(t)
  const { plan, started, write, end } = aPlan(folder)
  const client = new AbortController()
  const first = joinAndRead(one, plan, client.signal)
  await until(() => started.length === 1)
  client.abort()
  await first
  await sleep(20)
  const second = joinAndRead(one, plan)
  await sleep(500)
  t.notOk(started[0]?.signal.aborted)
  write('x')
  end()
  t.equal(await second, 'x')
  t.equal(started.length, 1)
})

t.test(
  'a write that fails before its first byte is an error for the leader and a miss for joiners',
  async (t) => {
    const { folder, one, two, reports } = await twoWorkers(t)
    const { plan, started, fail } = aPlan(folder)
    const first = one.join(plan, present())
    await until(() => started.length === 1)
    const here = one.join(plan, present())
    const there = two.join(plan, present())
    const all = Promise.allSettled([first, here, there])
    await sleep(30)
    fail(new Error('git is out of memory'))
    const [a, b, c] = await all
    t.match(a, { reason: { message: 'git is out of memory' } })
    t.match(b, { reason: { message: 'git is out of memory' } })
    t.match(c, { reason: { name: 'SingleFlightMissed' } })
    await until(() => reports.some(({ act }) => act === 'moved'))
    t.strictSame(await readdir(folder), [])
  },
)

t.test('a write that fails after some bytes ends every answer with an error', async (t) => {
  const { folder, one, two } = await twoWorkers(t)
  const { plan, started, write, fail } = aPlan(folder)
  const first = one.join(plan, present())
  await until(() => started.length === 1)
  write('some')
  const bodies = [await first, await two.join(plan, present())].map(({ body }) => readText(body))
  const all = Promise.allSettled(bodies)
  await sleep(20)
  fail(new Error('killed'))
  t.match(await all, [{ reason: { message: 'killed' } }, { reason: SingleFlightMissed }])
})

t.test('a lost leader is a miss before the first byte and a broken answer after it', async (t) => {
  for (const bytes of [0, 4]) {
    const { folder, board, one, two } = await twoWorkers(t)
    const { plan, started, write } = aPlan(folder)
    const client = new AbortController()
    const lost = joinAndRead(one, plan, client.signal).catch(() => {})
    await until(() => started.length === 1)
    if (bytes > 0) write('some')
    const joining = two.join(plan, present())
    const outcome = joining.then(async ({ body }) => readText(body).catch(() => 'broke off'))
    // With bytes, the joiner reads; without, it waits for the first of them.
    await (bytes > 0 ? joining : sleep(30))
    const answers = board.lose(1)
    t.match(answers, [{ groupId: 4711 }])
    // The supervisor does the same for a worker that died.
    for (const { path } of answers) releaseLease(path)
    if (bytes === 0) await t.rejects(outcome, SingleFlightMissed)
    else t.equal(await outcome, 'broke off')
    const again = aPlan(folder)
    const next = joinAndRead(two, again.plan)
    await until(() => again.started.length === 1)
    again.write('y')
    again.end()
    t.equal(await next, 'y', 'the key can be started again')
    client.abort()
    await lost
  }
})

t.test('the answer of a lost leader is not followed, even while it is read', async (t) => {
  const { folder, board, one, two } = await twoWorkers(t)
  const { plan, started, write } = aPlan(folder)
  const client = new AbortController()
  const lost = joinAndRead(one, plan, client.signal).catch(() => {})
  await until(() => started.length === 1)
  write('some')
  const [slow, quick] = [await two.join(plan, present()), await two.join(plan, present())]
  for (const { path } of board.lose(1)) releaseLease(path)
  await t.rejects(readText(quick.body), SingleFlightMissed)
  const again = aPlan(folder)
  const next = joinAndRead(two, again.plan)
  await until(() => again.started.length === 1)
  again.write('y')
  again.end()
  t.equal(await next, 'y')
  await t.rejects(readText(slow.body), SingleFlightMissed)
  client.abort()
  await lost
})

t.test('a file that is closed while a request waits for it is not read', async (t) => {
  const { folder, one } = await twoWorkers(t)
  const { plan, started, write, end } = aPlan(folder)
  const first = one.join(plan, present())
  await until(() => started.length === 1)
  write('some')
  const { body } = await first
  await body[Symbol.asyncIterator]().return?.()
  const late = one.join(plan, present())
  // The state after the end of an answer, before the request has the file.
  started[0]?.file.release()
  end()
  await t.rejects(late, SingleFlightMissed)
})

t.test('a joiner that knows the end reads on when its leader is lost', async (t) => {
  const { folder, board, one, two, reports } = await twoWorkers(t)
  const { plan, started, write, end } = aPlan(folder)
  const first = joinAndRead(one, plan)
  await until(() => started.length === 1)
  write('x'.repeat(100))
  const { body } = await two.join(plan, present())
  end()
  await until(() => reports.some(({ act }) => act === 'moved'))
  board.lose(1)
  t.equal((await readText(body)).length, 100)
  await first
})

t.test('an answer that cannot be stored is still read by all and deleted', async (t) => {
  const { folder, one, two, lines } = await twoWorkers(t)
  const { plan, started, write, end } = aPlan(folder)
  const broken: SingleFlightPlan = {
    ...plan,
    write: async (file, options) => ({
      bytes: (await plan.write(file, options)).bytes,
      keep: () => Promise.reject(new Error('no space')),
    }),
  }
  const all = [joinAndRead(one, broken)]
  await until(() => started.length === 1)
  all.push(joinAndRead(two, broken))
  write('x')
  await sleep(20)
  end()
  t.strictSame(await Promise.all(all), ['x', 'x'])
  await until(async () => (await readdir(folder)).length === 0)
  t.match(lines.join(), 'an answer of git was not kept')
})

t.test('an answer that is not to be stored is read and deleted', async (t) => {
  const { folder, one } = await twoWorkers(t)
  const write = async (file: GrowingFile) => {
    await sleep(1)
    return { bytes: writeSync(file.file, 'ERR') }
  }
  t.equal(await joinAndRead(one, { key: 'k', write }), 'ERR')
  await until(async () => (await readdir(folder)).length === 0)
})

t.test(
  'a file in place of a folder is an error of the leader, and a missing file is a miss for joiners',
  async (t) => {
    const { folder, board, one, two } = await twoWorkers(t)
    const { plan } = aPlan(join(folder, 'x'))
    await writeFile(join(folder, 'file'), '')
    const nowhere = { ...plan, key: 'file/such' }
    await t.rejects(one.join(nowhere, present()), { code: 'ENOTDIR' })
    await t.rejects(one.join(nowhere, present()), { code: 'ENOTDIR' }, 'each time')
    // Another worker leads, and its file does not exist yet.
    board.take(9, { act: 'want', id: 1, key: 'k' })
    await t.rejects(two.join({ ...plan, key: 'k' }, present()), SingleFlightMissed)
  },
)

t.test('throttling of the leader is a miss for joiners, not an error', async (t) => {
  const { folder, one, two } = await twoWorkers(t)
  const { plan, started, fail } = aPlan(folder)
  const all = [one, one, two].map((singleFlight) => joinAndRead(singleFlight, plan))
  const ended = Promise.allSettled(all)
  await until(() => started.length === 1)
  fail(new Failure('throttled', 'too many'))
  const reasons = (await ended).map((each) => each.status === 'rejected' && each.reason.name)
  t.strictSame(reasons, ['Error', 'SingleFlightMissed', 'SingleFlightMissed'])
})
