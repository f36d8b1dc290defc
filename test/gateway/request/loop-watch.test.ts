/** The watch of the event loop: measured delays and named routes. */

import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { HEALTH_ROUTES } from '../../../gateway/health.js'
import { watchLoop } from '../../../gateway/request/loop-watch.js'
import type { AnyRoute } from '../../../gateway/request/route.js'

function requestTo(path: string) {
  const route = HEALTH_ROUTES.find((one) => one.path === path) as AnyRoute
  return { found: { route, segments: {} } }
}

function startWatch(t: Test) {
  const delays: number[] = []
  const lines: Array<{ msg: string; delayMs: number; routes: string[] }> = []
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const watch = watchLoop({ log, observe: (seconds) => delays.push(seconds) })
  t.teardown(async () => watch.stop())
  return { watch, delays, lines }
}

/** Blocks the event loop. */
function block(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

/** Returns the measured delays: each late one is followed by further values, 20 ms shorter each. */
function measured(delays: readonly number[]): readonly number[] {
  return delays.filter(
    (seconds, index) => Math.abs((delays[index - 1] ?? 0) - 0.02 - seconds) > 1e-6,
  )
}

t.test('a delay is logged with the routes that started and those that waited', async (t) => {
  const { watch, delays, lines } = startWatch(t)
  watch.begin(requestTo('/api/healthz'))
  await sleep(50)
  const waiting = requestTo('/readyz')
  const ended = requestTo('/metrics')
  watch.wait(waiting)
  watch.wait(ended)
  watch.end(ended)
  watch.begin(requestTo('/livez'))
  watch.begin({ found: undefined })
  watch.begin(requestTo('/livez'))
  block(400)
  await sleep(60)
  t.equal(lines.length, 1)
  t.match(lines, [{ msg: 'the event loop was late', level: 40 }])
  t.strictSame(lines[0]?.routes, ['GET /livez', 'unknown', 'GET /readyz'])
  t.ok((lines[0]?.delayMs ?? 0) >= 350, `${lines[0]?.delayMs} ms`)
  // A request at a random time waits for half of the delay, so the delay counts for each tick.
  t.ok(delays.filter((seconds) => seconds > 0.1).length >= 10, `${delays.length} ticks`)
  t.ok(Math.max(...delays) < 60)
})

t.test('delays are logged at most every ten seconds, and short ones never', async (t) => {
  const { watch, lines } = startWatch(t)
  for (const ms of [200, 200, 200]) {
    watch.begin(requestTo('/livez'))
    block(ms)
    await sleep(60)
  }
  t.equal(lines.length, 1)
})

t.test('requests of one turn of the event loop are measured once, without a timer', async (t) => {
  const { watch, delays } = startWatch(t)
  for (const path of ['/livez', '/readyz']) watch.begin(requestTo(path))
  block(10)
  await sleep(100)
  t.equal(measured(delays).length, 1)
  t.ok((delays[0] ?? 0) >= 0.01, `${delays[0]} s`)
  watch.begin(requestTo('/livez'))
  await sleep(100)
  t.equal(measured(delays).length, 2)
})

t.test('the watch is idle while there are no requests', async (t) => {
  const { watch, delays } = startWatch(t)
  await sleep(100)
  t.equal(delays.length, 0)
  const waiting = requestTo('/readyz')
  watch.begin(waiting)
  watch.wait(waiting)
  while (delays.length < 5) await sleep(20)
  const [, ...ticks] = measured(delays)
  t.ok(Math.min(...ticks) < 0.015, 'the interval of the ticks is no delay')
  watch.end(waiting)
  await sleep(200)
  const atRest = delays.length
  await sleep(300)
  t.equal(delays.length, atRest)
})
