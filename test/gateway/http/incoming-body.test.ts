/** Request bodies keep their order and limits, whatever the speed of sender and reader. */

import t from 'tap'
import { isFailure } from '../../../conf/failures.js'
import { IncomingBody, NO_BODY, readBody } from '../../../gateway/http/incoming-body.js'

/** Creates a body that records its calls of pause and resume. */
function aBody() {
  const calls: string[] = []
  const source = { pause: () => calls.push('pause'), resume: () => calls.push('resume') }
  return { body: new IncomingBody(source), calls }
}

const bytes = (size: number, fill = 0) => new Uint8Array(size).fill(fill)

t.test('chunks are read in order, whether they arrive before or after the read', async (t) => {
  const { body, calls } = aBody()
  body.push(Buffer.from('one '), false)
  body.push(bytes(0), false)
  const read = readBody(body, 100)
  setTimeout(() => body.push(Buffer.from('two '), false), 5)
  setTimeout(() => body.push(Buffer.from('three'), true), 10)
  t.equal((await read).toString(), 'one two three')
  t.equal(body.isComplete, true)
  t.equal(body.receivedBytes, 13)
  t.strictSame(calls, [])
})

t.test('a slow reader pauses the socket, and resumes it when the queue is empty', async (t) => {
  const { body, calls } = aBody()
  for (let n = 0; n < 5; n += 1) body.push(bytes(65_536, n), false)
  t.strictSame(calls, ['pause'], 'paused once above 256 KiB')
  const reader = body[Symbol.asyncIterator]()
  for (let n = 0; n < 4; n += 1) {
    const { value } = await reader.next()
    t.equal(value?.[0], n)
  }
  t.strictSame(calls, ['pause'], 'not yet')
  await reader.next()
  t.strictSame(calls, ['pause', 'resume'])
  body.push(bytes(1), true)
  await reader.next()
  t.equal((await reader.next()).done, true)
})

t.test('the last chunk never pauses the socket', async (t) => {
  const { body, calls } = aBody()
  body.push(bytes(1_000_000), true)
  t.strictSame(calls, [])
  t.equal((await readBody(body, 1_000_000)).length, 1_000_000)
})

t.test('a truncated body fails after its received bytes', async (t) => {
  const { body } = aBody()
  body.push(Buffer.from('half'), false)
  const reader = body[Symbol.asyncIterator]()
  t.equal(Buffer.from((await reader.next()).value ?? []).toString(), 'half')
  const next = reader.next()
  body.cut()
  t.ok(isFailure(await next.catch((error: unknown) => error), 'bad_request'))
  const whole = aBody().body
  whole.push(Buffer.from('x'), true)
  whole.cut()
  t.equal((await readBody(whole, 9)).toString(), 'x', 'a complete body cannot be truncated')
})

t.test('a discarded body ends its reader, resumes the socket and keeps nothing', async (t) => {
  const { body, calls } = aBody()
  body.push(bytes(300_000), false)
  body.discard()
  t.strictSame(calls, ['pause', 'resume'])
  body.push(bytes(300_000), false)
  t.strictSame(calls, ['pause', 'resume'], 'later chunks are dropped')
  t.equal((await readBody(body, 10)).length, 0)
  t.equal(body.receivedBytes, 600_000)
})

t.test('a truncated body does not resume its closed socket', async (t) => {
  const { body, calls } = aBody()
  body.push(bytes(300_000), false)
  body.cut()
  body.discard()
  t.strictSame(calls, ['pause'])
})

t.test('a body over the limit is refused, unread if its length is known', async (t) => {
  const { body } = aBody()
  body.push(bytes(6), false)
  body.push(bytes(5), false)
  await t.rejects(readBody(body, 10), { message: /10 bytes/ })
  const unread = aBody().body
  const refused = await readBody(unread, 10, 11).catch((error: unknown) => error)
  t.ok(isFailure(refused, 'payload_too_large'))
  const exact = aBody().body
  exact.push(bytes(10), true)
  t.equal((await readBody(exact, 10, 10)).length, 10)
  t.equal((await readBody(NO_BODY, 0)).length, 0)
})

t.test('chunks received after the pause are read completely and in order', async (t) => {
  const body = new IncomingBody({ pause() {}, resume() {} })
  const chunks = Array.from({ length: 100 }, (_, index) => Buffer.alloc(100_000, index))
  for (const chunk of chunks.slice(0, 60)) body.push(chunk, false)
  const received: Buffer[] = []
  for await (const chunk of body) {
    received.push(Buffer.from(chunk))
    if (received.length === 30) {
      for (const [index, more] of chunks.slice(60).entries()) body.push(more, index === 39)
    }
  }
  t.ok(Buffer.concat(received).equals(Buffer.concat(chunks)))
})

t.test('a truncated body whose rest is in a file is never taken for complete', async (t) => {
  const body = new IncomingBody({ pause() {}, resume() {} })
  for (let index = 0; index < 40; index += 1) body.push(Buffer.alloc(100_000), index === 39)
  body.cut()
  const ended = await readBody(body, 10_000_000).catch((error: unknown) => error)
  t.ok(isFailure(ended, 'bad_request'))
})

t.test('a short body is returned as a whole, in any number of chunks', async (t) => {
  for (const parts of [['one two'], ['one', ' ', 'two'], ['o'.repeat(20_000), 'x'], ['']]) {
    const { body } = aBody()
    const whole = body.whole(65_536)
    for (const [at, part] of parts.entries()) {
      body.push(Buffer.from(part), at === parts.length - 1)
      await null
    }
    t.equal((await whole)?.toString(), parts.join(''))
    t.equal((await readBody(body, 9)).length, 0, 'and is read')
  }
})

t.test('a long body is not read before the handler reads it', async (t) => {
  const { body } = aBody()
  const whole = Promise.resolve(body.whole(10))
  body.push(Buffer.from('one two '), false)
  body.push(Buffer.from('three'), false)
  t.equal(await whole, undefined)
  body.push(Buffer.from(' four'), true)
  t.equal((await readBody(body, 100)).toString(), 'one two three four')
})

t.test('a truncated short body fails', async (t) => {
  const { body } = aBody()
  const whole = Promise.resolve(body.whole(10))
  body.push(Buffer.from('half'), false)
  body.cut()
  t.ok(isFailure(await whole.catch((error: unknown) => error), 'bad_request'))
})
