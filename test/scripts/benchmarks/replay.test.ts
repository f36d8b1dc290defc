/** A recorded request is sent the requested number of times, and a wrong answer is an error. */

import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { requestRepeatedly } from '../../../scripts/benchmarks/load.js'
import { createReplay, saveAnswer } from '../../../scripts/benchmarks/replay.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const { signal } = new AbortController()
const BODY = Buffer.from('0000\0\n\r]]"\xff', 'latin1')
const ANSWER = 'x'.repeat(1_000)

interface Seen {
  readonly method: string | undefined
  readonly color: string | undefined
  readonly body: string
}

/** Time of an answer, so that the clients of a load do not use a whole CPU. */
const ANSWER_MS = 20

/** Starts a server that answers with `answer` for each request; the first one is number 1. */
async function aServer(
  t: Test,
  answer: (count: number) => readonly [status: number, text: string],
) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('latin1')
    seen.push({ method: request.method, color: request.headers['x-color']?.toString(), body })
    const [status, text] = answer(seen.length)
    await sleep(ANSWER_MS)
    response.writeHead(status).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const bodyFile = join(await temporaryFolder(t), 'body')
  await writeFile(bodyFile, BODY)
  const post = { url: `http://127.0.0.1:${port}/a`, headers: ['X-Color: red'], bodyFile }
  return { post, seen }
}

const POSTED = { method: 'POST', color: 'red', body: BODY.toString('latin1') }

t.test('the first run sends one request per client, later ones as many as fit', async (t) => {
  const { post, seen } = await aServer(t, () => [200, ANSWER])
  const takeTurn = createReplay(post, { clients: 3, answerBytes: 1_000, signal })
  const first = await takeTurn()
  t.equal(first.operations, 3)
  t.strictSame(seen, [POSTED, POSTED, POSTED])
  const second = await takeTurn()
  t.ok(second.operations > 3)
  t.equal(second.operations % 3, 0)
  t.equal(seen.length, 3 + second.operations)
  t.ok(second.seconds > 0)
})

t.test('a run with an error status or a wrong answer fails', async (t) => {
  for (const wrong of [
    [503, ANSWER],
    [200, '003dERR upload-pack: not our ref'],
    [200, ''],
  ] as const) {
    const { post } = await aServer(t, (count) => (count === 3 ? wrong : [200, ANSWER]))
    const takeTurn = createReplay(post, { clients: 4, answerBytes: 1_000, signal })
    await t.rejects(takeTurn(), /127\.0\.0\.1/, `${wrong}`)
  }
})

t.test('an answer is saved unchanged', async (t) => {
  const { post, seen } = await aServer(t, () => [200, ANSWER])
  const file = join(await temporaryFolder(t), 'answer')
  t.equal(await saveAnswer(post, { file, signal }), 1_000)
  t.equal(await readFile(file, 'latin1'), ANSWER)
  t.strictSame(seen, [POSTED])
  t.equal(await saveAnswer({ url: post.url, headers: [] }, { file, signal }), 1_000)
  t.match(seen[1], { method: 'GET', body: '' })
})

t.test('wrk sends the body from a file and fails if it is refused', async (t) => {
  const { post, seen } = await aServer(t, () => [200, ANSWER])
  const options = { ...post, threads: 1, connections: 2, signal }
  const { operations, seconds } = await requestRepeatedly(post.url, options)
  t.ok(operations > 0 && seconds > 0)
  t.strictSame(seen[0], POSTED)
  const refusing = await aServer(t, () => [503, ''])
  await t.rejects(requestRepeatedly(refusing.post.url, { ...options, ...refusing.post }), /Non-2xx/)
})

t.test('an answer with an error status is not saved', async (t) => {
  const { post } = await aServer(t, () => [503, ANSWER])
  const file = join(await temporaryFolder(t), 'answer')
  await t.rejects(saveAnswer(post, { file, signal }), /failed: 503 /)
})
