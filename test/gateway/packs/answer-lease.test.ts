/** Gateways with one data folder make an answer once, and each makes it if the leader fails. */

import { lutimes, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import {
  SingleFlight,
  SingleFlightMissed,
  type SingleFlightPlan,
} from '../../../gateway/packs/single-flight.js'
import {
  SingleFlightCoordinator,
  type SingleFlightNotice,
} from '../../../gateway/packs/single-flight-coordinator.js'
import { until } from '../../helpers/server-processes.js'
import { aPlan, joinAndRead, present, readText } from '../../helpers/single-flights.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const WAITS_MS = 10_000

const LOG = pino({ level: 'silent' })

/** Creates a gateway with two workers on the folder. */
function aGateway(folder: string, name: string): readonly [SingleFlight, SingleFlight] {
  const channels = new Map<number, (notice: SingleFlightNotice) => void>()
  const coordinator = new SingleFlightCoordinator({ folder, name }, (member, notice) =>
    setImmediate(() => channels.get(member)?.(notice)),
  )
  const startWorker = (member: number) =>
    new SingleFlight(
      {
        report: (report) => coordinator.take(member, report),
        listen: (take) => channels.set(member, take),
      },
      LOG,
    )
  return [startWorker(1), startWorker(2)]
}

async function threeGateways(t: Test) {
  const folder = await temporaryFolder(t)
  const [a, ...others] = aGateway(folder, 'a')
  const [b, c] = [aGateway(folder, 'b'), aGateway(folder, 'c')]
  return { folder, workers: [a, ...others, ...b, ...c], a, b: b[0], c: c[0] }
}

function untilStarted({ started }: ReturnType<typeof aPlan>) {
  return until(
    async () => started.length,
    (count) => count > 0,
    WAITS_MS,
  )
}

function untilFilesAre(folder: string, wanted: string) {
  return until(
    async () => (await readdir(folder)).sort().join(' '),
    (names) => names === wanted,
    WAITS_MS,
  )
}

t.test('workers of three gateways share one write and each reads the whole answer', async (t) => {
  for (const isKept of [true, false]) {
    const { folder, workers } = await threeGateways(t)
    const made = aPlan(folder)
    const write: SingleFlightPlan['write'] = async (file, options) => {
      const { bytes, keep } = await made.plan.write(file, options)
      return isKept && keep !== undefined ? { bytes, keep } : { bytes }
    }
    const plan = { ...made.plan, write }
    const joined = workers.map((worker) => worker.join(plan, present()))
    await untilStarted(made)
    made.write('the ')
    await sleep(50)
    joined.push(...workers.map((worker) => worker.join(plan, present())))
    await sleep(50)
    made.write('whole answer')
    made.end()
    const all = await Promise.all(joined)
    const texts = await Promise.all(all.map(({ body }) => readText(body)))
    t.strictSame([...new Set(texts)], ['the whole answer'])
    t.equal(all.filter(({ isLeader }) => isLeader).length, 1, 'one request leads')
    t.equal(made.started.length, 1)
    const left = isKept ? 'k' : ''
    t.equal(await untilFilesAre(folder, left), left, 'no other file is left')
  }
})

t.test('a failed leader is a miss for other gateways, one of which can lead next', async (t) => {
  const { folder, a, b, c } = await threeGateways(t)
  const made = aPlan(folder)
  const first = joinAndRead(a, made.plan)
  await untilStarted(made)
  const others = [b, c].map((worker) => joinAndRead(worker, made.plan))
  await sleep(50)
  const ended = Promise.allSettled([first, ...others])
  made.fail(new Error('git is out of memory'))
  t.match(await ended, [
    { reason: { message: 'git is out of memory' } },
    { reason: SingleFlightMissed },
    { reason: SingleFlightMissed },
  ])
  const again = aPlan(folder)
  const next = [b, c].map((worker) => joinAndRead(worker, again.plan))
  await untilStarted(again)
  again.write('anew')
  again.end()
  t.strictSame(await Promise.all(next), ['anew', 'anew'])
  t.equal(again.started.length, 1)
})

t.test('the write goes on for the readers of another gateway and ends with the last', async (t) => {
  const { folder, a, b } = await threeGateways(t)
  const made = aPlan(folder)
  const [here, there] = [new AbortController(), new AbortController()]
  const first = joinAndRead(a, made.plan, here.signal)
  await untilStarted(made)
  made.write('some')
  const second = joinAndRead(b, made.plan, there.signal)
  await sleep(50)
  here.abort()
  await first
  await sleep(600)
  t.equal(made.started[0]?.signal.aborted, false)
  there.abort()
  await second
  const isAborted = async () => made.started[0]?.signal.aborted
  t.equal(await until(isAborted, (is) => is === true, WAITS_MS), true)
  t.equal(await untilFilesAre(folder, ''), '', 'no file is left')
})

t.test('a lease without a file does not delay an answer', async (t) => {
  const { folder, a } = await threeGateways(t)
  await symlink('k.dead-1.part', join(folder, 'k.lease'))
  const made = aPlan(folder)
  const beganAtMs = performance.now()
  const first = joinAndRead(a, made.plan)
  await untilStarted(made)
  t.ok(performance.now() - beganAtMs < 4_000, 'before a lease expires')
  made.end()
  t.equal(await first, '')
  t.equal(await untilFilesAre(folder, 'k'), 'k')
})

t.test('an answer is made without a lease if there cannot be one', async (t) => {
  const { folder, a, b } = await threeGateways(t)
  await mkdir(join(folder, 'k.lease'))
  for (const worker of [a, b]) {
    const made = aPlan(folder)
    const answer = joinAndRead(worker, made.plan)
    await untilStarted(made)
    made.write('x')
    made.end()
    t.equal(await answer, 'x')
  }
})

/** Creates the files of a leader in another gateway. */
async function aForeignLeader(folder: string): Promise<void> {
  await writeFile(join(folder, 'k.dead-1.part'), '')
  await symlink('k.dead-1.part', join(folder, 'k.lease'))
}

t.test('followers of a leader that died lead in bounded time', async (t) => {
  const { folder, a, b } = await threeGateways(t)
  await aForeignLeader(folder)
  const made = aPlan(folder)
  const missed = await Promise.allSettled([a, b].map((worker) => joinAndRead(worker, made.plan)))
  t.match(missed, [{ reason: SingleFlightMissed }, { reason: SingleFlightMissed }])
  const next = [a, b].map((worker) => joinAndRead(worker, made.plan))
  await untilStarted(made)
  made.write('whole')
  made.end()
  t.strictSame(await Promise.all(next), ['whole', 'whole'])
  t.equal(made.started.length, 1)
})

t.test('a leader whose clock is wrong and does not advance is followed', async (t) => {
  const { folder, a } = await threeGateways(t)
  await aForeignLeader(folder)
  const renewal = setInterval(() => lutimes(join(folder, 'k.lease'), 1, 1), 500)
  t.teardown(() => clearInterval(renewal))
  const client = new AbortController()
  const following = joinAndRead(a, aPlan(folder).plan, client.signal)
  t.equal(await Promise.race([following, sleep(7_000, 'follows')]), 'follows')
  client.abort()
  t.equal(await following, '')
})
