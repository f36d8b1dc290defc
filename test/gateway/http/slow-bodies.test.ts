/** Bodies slower than the timeout of uWebSockets.js, with the real listener and short times. */

import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Reply } from '../../../conf/http.js'
import { readBody } from '../../../gateway/http/incoming-body.js'
import { SlowBodies } from '../../../gateway/http/slow-bodies.js'
import { get, startListener } from '../../helpers/listening.js'
import { until } from '../../helpers/server-processes.js'
import { isFullSize } from '../../helpers/test-size.js'

/** Longer than the 12 seconds after which the library closes the connection of a slow body. */
const SECONDS = isFullSize ? 3_600 : 16
const BYTES_PER_SECOND = 1_024
const SILENT_MS = 15_000

t.test('bodies of one kibibyte a second arrive, with a length and in chunks', async (t) => {
  const { connect } = await startListener(t, async ({ body }) => {
    const bytes = await readBody(body, 100_000_000)
    return { status: 200, body: `read ${bytes.length}` }
  })
  // Sizes above and below the limit of bodies that are buffered before the handler runs.
  const small = SECONDS * BYTES_PER_SECOND
  const send = async (head: string, chunk: string) => {
    const wire = await connect()
    wire.socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
    for (let second = 0; second < SECONDS; second += 1) {
      wire.socket.write(chunk)
      await sleep(1_000)
    }
    return wire
  }
  const plain = 'x'.repeat(BYTES_PER_SECOND)
  const large = 'x'.repeat(100_000)
  const [whole, streamed, chunked] = await Promise.all([
    send(`Content-Length: ${small}`, plain),
    send(`Content-Length: ${small + large.length}`, plain),
    send('Transfer-Encoding: chunked', `${BYTES_PER_SECOND.toString(16)}\r\n${plain}\r\n`),
  ])
  streamed.socket.write(large)
  chunked.socket.write('0\r\n\r\n')
  t.match(await whole.until(/read \d+/), `read ${small}`)
  t.match(await streamed.until(/read \d+/), `read ${small + large.length}`)
  t.match(await chunked.until(/read \d+/), `read ${small}`)
})

t.test('bodies of requests and replies arrive whose reader pauses for long', async (t) => {
  const { connect } = await startListener(t, async ({ path, body }) => {
    const pausesMs = path === '/pauses' ? SILENT_MS : 1_000
    // Meanwhile the connection is paused; a small body has arrived completely.
    await sleep(pausesMs)
    const { length } = await readBody(body, 100_000_000)
    await sleep(SILENT_MS - pausesMs)
    return { status: 200, body: `read ${length}` }
  })
  const send = async (path: string, bytes: number) => {
    const wire = await connect()
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`
    wire.socket.write(head + 'x'.repeat(bytes))
    t.match(await wire.until(/read \d+/), `read ${bytes}`, path)
  }
  await Promise.all([send('/late', 1_000_000), send('/pauses', 30_000_000), pauseReading(t)])
})

/** Checks that replies arrive whose reader pauses: a library's timer would end them. */
async function pauseReading(t: Test): Promise<void> {
  const body = Buffer.alloc(20_000_000, 'x')
  async function* pieces() {
    for (let at = 0; at < body.length; at += 1_000_000) yield body.subarray(at, at + 1_000_000)
  }
  const replies: Readonly<Record<string, () => Partial<Reply>>> = {
    '/memory': () => ({ body }),
    '/stream': () => ({ body: pieces(), bodyBytes: body.length }),
    '/chunks': () => ({ body: pieces() }),
  }
  const { connect } = await startListener(t, async ({ path }) => {
    return { status: 200, ...replies[path]?.() }
  })
  const readLate = async (path: string, isLast: boolean) => {
    const wire = await connect()
    const hasArrived = (count: number) =>
      until(
        async () => wire.bytes(),
        (bytes) => bytes > count * body.length,
        30_000,
      )
    const request = get(path)
    wire.socket.pause()
    wire.socket.write(isLast ? request.replace('\r\n', '\r\nConnection: close\r\n') : request)
    await sleep(SILENT_MS)
    wire.socket.resume()
    t.ok((await hasArrived(1)) > body.length, path)
    if (isLast) return
    wire.socket.write(request)
    t.ok((await hasArrived(2)) > 2 * body.length, `${path} again`)
  }
  const paths = Object.keys(replies)
  await Promise.all(paths.flatMap((path) => [readLate(path, false), readLate(path, true)]))
}

t.test('the timer is restarted for bodies that arrive and not for others', async (t) => {
  const bodies = new SlowBodies({ tickMs: 20, restMsMax: 200 })
  const add = (isPaused = false) => {
    const body = { receivedBytes: 0, isComplete: false, isPaused, restarts: 0, stops: 0, ends: 0 }
    const entry = {
      ...body,
      restartTimer() {
        entry.restarts += 1
      },
      stopTimer() {
        entry.stops += 1
      },
      giveUp() {
        entry.ends += 1
      },
    }
    bodies.add(entry)
    return entry
  }
  const [silent, arriving, paused, removed] = [add(), add(), add(true), add()]
  bodies.remove(removed)
  for (let time = 0; time < 50; time += 1) {
    await sleep(20)
    arriving.receivedBytes += 100
  }
  const [silentBefore, arrivingBefore] = [silent.restarts, arriving.restarts]
  t.ok(silentBefore >= 1 && silentBefore < 12, `${silentBefore} restarts for a silent body`)
  t.ok(arrivingBefore > silentBefore, `${arrivingBefore} restarts for one that arrives`)
  t.equal(removed.restarts, 0)
  t.equal(paused.restarts, 0)
  t.ok(paused.stops >= 1, 'the timer of a paused body is stopped')
  arriving.receivedBytes += 1_000_000
  paused.isPaused = false
  await sleep(100)
  t.strictSame([silent.restarts, silent.ends], [silentBefore, 1], 'a silent body ends once')
  t.ok(paused.restarts >= 1, 'time in which the body was not read does not count')
  const beforeRest = arriving.restarts
  await sleep(2_000)
  t.ok(arriving.restarts - beforeRest < 12, 'many bytes do not permit a long pause')
  t.strictSame([arriving.ends, paused.ends, removed.ends], [1, 1, 0])
})
